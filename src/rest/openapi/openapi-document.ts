import type { OpenAPIV3 } from 'openapi-types';
import { stringify } from 'yaml';
import type { PreparedOperation } from '../prepared-operation';
import { TAGS } from '../rest-operation';
import { commonCodes, sharedResponses } from './error-responses';
import { ERROR_SCHEMAS } from './error-schemas';
import { PARAMETERS } from './parameters';
import { pathsOf } from './paths';
import { HEADERS } from './response-headers';
import { schemasOf } from './schemas';

const DESCRIPTION = `Pets, the categories they belong to, orders for them, and their stock.

- **Lists** are bare arrays. The next page is in the \`Link\` header with \`rel="next"\`.
- **Values** that are absent are left out of an object, and never null.
- **Identifiers** are 64-bit integers: read them with a JSON parser that keeps them exact.
- **Errors** are an \`Error\` object, whose \`status\` is the HTTP status. \`/docs/errors\` says what to do about each \`code\`.
- **Versions** of a resource are its \`ETag\`: send it back as \`If-Match\`, and the change is made only if nobody else was faster.
- **Limits** are on every response, in \`X-RateLimit-*\` and \`RateLimit\`. After a 429, wait for as long as \`Retry-After\` says.
- **Keys** are sent in \`X-API-Key\` or as a bearer token, and are optional for what anonymous callers may do.`;

/** An OpenAPI document that says who its servers are for. */
export type OpenApiDocument = OpenAPIV3.Document & { servers: { 'x-internal': boolean }[] };

/** The OpenAPI 3.0.3 document of the operations. Its integers may be bigints. */
export function openApiDocument(operations: readonly PreparedOperation[]): OpenApiDocument {
  const common = commonCodes(operations);
  return {
    openapi: '3.0.3',
    info: {
      title: 'Petstore Gateway',
      version: '1.0.0',
      description: DESCRIPTION,
      contact: { name: 'The maintainers of Petstore Gateway' },
      license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
    },
    servers: [{ url: '/', description: 'This server, local or in production', 'x-internal': false }],
    security: [{}, { apiKey: [] }, { bearer: [] }],
    tags: [...new Set(Object.values(TAGS))],
    paths: pathsOf(operations, common),
    components: {
      schemas: { ...schemasOf(operations), ...ERROR_SCHEMAS },
      parameters: PARAMETERS,
      headers: HEADERS,
      responses: sharedResponses(common),
      securitySchemes: {
        apiKey: {
          type: 'apiKey',
          in: 'header',
          name: 'X-API-Key',
          description: 'An API key: `ps_<key id>_<secret>`',
        },
        bearer: { type: 'http', scheme: 'bearer', description: 'The same API key as a bearer token' },
      },
    },
  };
}

/** The document as YAML: what `/openapi.yaml` serves, and what docs/openapi.yaml contains. */
export function asYaml(document: OpenAPIV3.Document): string {
  return stringify(document, { aliasDuplicateObjects: false });
}
