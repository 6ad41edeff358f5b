import type { OpenAPIV3 } from 'openapi-types';
import { stringify } from 'yaml';
import type { Catalogue } from '../../errors/codes';
import type { PreparedRoute } from '../prepared-route';
import type { RestApi } from '../rest-route';
import { commonCodes, sharedResponses } from './error-responses';
import { sharedParameters } from './parameters';
import { pathsOf } from './paths';
import { HEADERS } from './response-headers';
import { errorSchemas, schemasOf } from './schemas';

/**
 * Creates the OpenAPI 3.0.3 document of the REST operations. Some of its integers are bigints. The document names no servers.
 * By default, clients call the server of the document. With the server `/`, generators would append paths to `/`, which makes
 * `//pets`.
 */
export function openApiDocument(
  operations: readonly PreparedRoute[],
  { title, description, tags }: RestApi,
  errors: Catalogue,
): OpenAPIV3.Document {
  const common = commonCodes(operations, errors);
  return {
    openapi: '3.0.3',
    info: {
      title,
      version: '1.0.0',
      description,
      contact: { name: `The maintainers of ${title}` },
      license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
    },
    security: [{}, { apiKey: [] }, { bearer: [] }],
    tags: [...new Set(Object.values(tags))],
    paths: pathsOf(operations, common, errors),
    components: {
      schemas: { ...schemasOf(operations), ...errorSchemas(errors) },
      parameters: sharedParameters(operations),
      headers: HEADERS,
      responses: sharedResponses(common, errors),
      securitySchemes: {
        apiKey: {
          type: 'apiKey',
          in: 'header',
          name: 'X-API-Key',
          description: 'An API key: `ps_<key id>_<secret>`',
        },
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: "The same API key, or an end user's token, as a bearer token",
        },
      },
    },
  };
}

/** The document as YAML, for `/openapi.yaml` and docs/openapi.yaml. */
export function asYaml(document: OpenAPIV3.Document): string {
  return stringify(document, { aliasDuplicateObjects: false });
}
