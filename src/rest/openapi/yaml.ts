import type { OpenAPIV3 } from 'openapi-types';
import { stringify } from 'yaml';

/** The OpenAPI document as YAML, for `/openapi.yaml` and docs/openapi.yaml. */
export function asYaml(document: OpenAPIV3.Document): string {
  return stringify(document, { aliasDuplicateObjects: false });
}
