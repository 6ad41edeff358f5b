/** A request to the test gateway, and its response. Without a method it is a GET, or the POST of an operation. */
export interface Request {
  readonly name: string;
  /** `{dogs}` is a category with pets, `{empty}` one without. */
  readonly path?: string;
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
  /** The operation of a POST to /graphql. */
  readonly graphql?: string;
  readonly as?: 'admin' | 'anonymous' | 'wrong key' | 'reader' | 'free';
  /** The state in which it arrives. */
  readonly before?: 'a pet' | 'a bug' | 'no database';
  readonly status: number;
  readonly code?: string;
}

const JSON_BODY = { 'content-type': 'application/json' };
const PREFLIGHT = { origin: 'https://shop.example', 'access-control-request-method': 'POST' };

/** An operation with this number of counted root fields. */
export function fields(count: number): string {
  return `{ ${Array.from({ length: count }, (_, i) => `f${i}: pet(id: 1) { id }`).join(' ')} }`;
}

const LONG = JSON.stringify({ name: 'x'.repeat(101 * 1024) });

/** At least one for every status, on both interfaces where both have it. */
export const REQUESTS: readonly Request[] = [
  { name: 'a list', path: '/pets', status: 200 },
  { name: 'a query', graphql: '{ pets { totalCount } }', status: 200 },
  { name: 'a mutation', graphql: 'mutation { createCategory(input: { name: "Cats" }) { id } }', status: 200 },
  { name: 'an error beside data', graphql: 'mutation { deletePet(id: 77) { id } }', status: 200 },
  { name: 'introspection', graphql: '{ __schema { queryType { name } } }', status: 200 },
  {
    name: 'a creation',
    method: 'POST',
    path: '/categories',
    headers: JSON_BODY,
    body: '{"name":"Birds"}',
    status: 201,
  },
  { name: 'a deletion', method: 'DELETE', path: '/categories/{empty}', status: 204 },
  { name: 'an unchanged read', path: '/pets', headers: { 'if-none-match': '*' }, status: 304 },
  { name: 'HEAD', method: 'HEAD', path: '/pets', status: 200 },
  { name: 'HEAD of an unknown path', method: 'HEAD', path: '/nothing', status: 404 },
  { name: 'a deprecated read', path: '/pets/77', status: 404, code: 'NOT_FOUND' },

  {
    name: 'bad JSON',
    method: 'POST',
    path: '/pets',
    headers: JSON_BODY,
    body: '{',
    status: 400,
    code: 'BAD_REQUEST',
  },
  {
    name: 'bad JSON to GraphQL',
    method: 'POST',
    path: '/graphql',
    headers: JSON_BODY,
    body: '{',
    status: 400,
    code: 'BAD_REQUEST',
  },
  {
    name: 'no body to GraphQL',
    method: 'POST',
    path: '/graphql',
    headers: JSON_BODY,
    status: 400,
    code: 'BAD_REQUEST',
  },
  {
    name: 'a list of operations',
    method: 'POST',
    path: '/graphql',
    headers: JSON_BODY,
    body: '[{"query":"{__typename}"}]',
    status: 400,
    code: 'BAD_REQUEST',
  },
  { name: 'a URL that cannot be decoded', path: '/pets/%zz', status: 400, code: 'BAD_REQUEST' },
  {
    name: 'a GraphQL URL that cannot be decoded',
    path: '/graphql?query=%zz',
    status: 400,
    code: 'BAD_REQUEST',
  },
  {
    name: 'a POST to a GraphQL URL that cannot be decoded',
    method: 'POST',
    path: '/graphql?x=%zz',
    headers: JSON_BODY,
    body: '{"query":"{ __typename }"}',
    status: 400,
    code: 'BAD_REQUEST',
  },
  { name: 'bad input', path: '/pets?limit=0', status: 400, code: 'BAD_USER_INPUT' },
  { name: 'an unknown parameter', path: '/pets?colour=red', status: 400, code: 'BAD_USER_INPUT' },
  { name: 'a document that does not parse', graphql: '{', status: 400, code: 'GRAPHQL_PARSE_FAILED' },
  {
    name: 'a document that is not valid',
    graphql: '{ nothing }',
    status: 400,
    code: 'GRAPHQL_VALIDATION_FAILED',
  },
  {
    name: 'a missing variable',
    graphql: 'query ($id: ID!) { pet(id: $id) { id } }',
    status: 400,
    code: 'BAD_USER_INPUT',
  },
  {
    name: 'an operation that is too large',
    graphql: fields(61),
    as: 'free',
    status: 400,
    code: 'OPERATION_TOO_COMPLEX',
  },
  {
    name: 'a possible CSRF request',
    path: '/graphql?query={__typename}',
    headers: { 'sec-fetch-site': 'cross-site' },
    status: 400,
    code: 'BAD_REQUEST',
  },
  { name: 'no key', path: '/pets', as: 'anonymous', status: 401, code: 'UNAUTHENTICATED' },
  {
    name: 'a wrong key',
    path: '/pets',
    as: 'wrong key',
    status: 401,
    code: 'UNAUTHENTICATED',
  },
  {
    name: 'a wrong key to GraphQL',
    graphql: '{ __typename }',
    as: 'wrong key',
    status: 401,
    code: 'UNAUTHENTICATED',
  },
  {
    name: 'a wrong key to an unknown path',
    path: '/nothing',
    as: 'wrong key',
    status: 401,
    code: 'UNAUTHENTICATED',
  },
  {
    name: 'a missing scope',
    method: 'DELETE',
    path: '/pets/77',
    as: 'reader',
    status: 403,
    code: 'FORBIDDEN',
  },
  {
    name: 'a missing scope in GraphQL',
    graphql: '{ apiKeys { totalCount } }',
    as: 'reader',
    status: 403,
    code: 'FORBIDDEN',
  },
  { name: 'an unknown path', path: '/nothing', status: 404, code: 'NOT_FOUND' },
  { name: 'an unknown pet', method: 'DELETE', path: '/pets/77', status: 404, code: 'NOT_FOUND' },
  {
    name: 'a method that is not allowed',
    method: 'PUT',
    path: '/pets',
    status: 405,
    code: 'METHOD_NOT_ALLOWED',
  },
  {
    name: 'a method that GraphQL does not allow',
    method: 'PUT',
    path: '/graphql',
    status: 405,
    code: 'METHOD_NOT_ALLOWED',
  },
  {
    name: 'an Accept that cannot be met',
    path: '/pets',
    headers: { accept: 'image/png' },
    status: 406,
    code: 'NOT_ACCEPTABLE',
  },
  {
    name: 'a change of another version',
    method: 'PATCH',
    path: '/categories/{dogs}',
    headers: { ...JSON_BODY, 'if-match': '"another"' },
    body: '{}',
    status: 412,
    code: 'PRECONDITION_FAILED',
  },
  {
    name: 'a conflict',
    method: 'DELETE',
    path: '/categories/{dogs}',
    before: 'a pet',
    status: 409,
    code: 'CATEGORY_NOT_EMPTY',
  },
  {
    name: 'a body that is too large',
    method: 'POST',
    path: '/pets',
    headers: JSON_BODY,
    body: LONG,
    status: 413,
    code: 'PAYLOAD_TOO_LARGE',
  },
  {
    name: 'a body that is too large for GraphQL',
    method: 'POST',
    path: '/graphql',
    headers: JSON_BODY,
    body: LONG,
    status: 413,
    code: 'PAYLOAD_TOO_LARGE',
  },
  {
    name: 'an unsupported content type',
    method: 'POST',
    path: '/pets',
    headers: { 'content-type': 'text/csv' },
    body: 'a,b',
    status: 415,
    code: 'UNSUPPORTED_MEDIA_TYPE',
  },
  {
    name: 'an unsupported content type to GraphQL',
    method: 'POST',
    path: '/graphql',
    headers: { 'content-type': 'text/csv' },
    body: 'a,b',
    status: 415,
    code: 'UNSUPPORTED_MEDIA_TYPE',
  },
  {
    name: 'a reference to a missing row',
    method: 'POST',
    path: '/pets',
    headers: JSON_BODY,
    body: '{"name":"Rex","categoryId":77}',
    status: 422,
    code: 'UNKNOWN_REFERENCE',
  },
  { name: 'a bug', path: '/pets', before: 'a bug', status: 500, code: 'INTERNAL_SERVER_ERROR' },
  {
    name: 'a bug behind GraphQL',
    graphql: '{ pets { nodes { id } } }',
    before: 'a bug',
    status: 200,
    code: 'INTERNAL_SERVER_ERROR',
  },
  {
    name: 'an unreachable database',
    path: '/pets',
    before: 'no database',
    status: 503,
    code: 'SERVICE_UNAVAILABLE',
  },
  {
    name: 'an unreachable database before a write',
    method: 'DELETE',
    path: '/pets/1',
    before: 'no database',
    status: 503,
    code: 'SERVICE_UNAVAILABLE',
  },

  { name: 'a preflight', method: 'OPTIONS', path: '/pets', headers: PREFLIGHT, as: 'anonymous', status: 204 },
  {
    name: 'a preflight of GraphQL',
    method: 'OPTIONS',
    path: '/graphql',
    headers: PREFLIGHT,
    as: 'anonymous',
    status: 204,
  },
  {
    name: 'a preflight to an unknown path',
    method: 'OPTIONS',
    path: '/nothing',
    headers: PREFLIGHT,
    as: 'anonymous',
    status: 204,
  },
  { name: 'OPTIONS that is not a preflight', method: 'OPTIONS', path: '/pets', status: 204 },
  { name: 'OPTIONS of GraphQL, not a preflight', method: 'OPTIONS', path: '/graphql', status: 204 },
  { name: 'OPTIONS of an unknown path, not a preflight', method: 'OPTIONS', path: '/nothing', status: 204 },
  { name: 'the documentation', path: '/docs/rest', status: 200 },
  { name: 'the OpenAPI document', path: '/openapi.json', status: 200 },
  { name: 'the OpenAPI document in YAML', path: '/openapi.yaml', status: 200 },
  { name: 'liveness', path: '/livez', status: 200 },
  { name: 'readiness', path: '/readyz', as: 'anonymous', status: 200 },
  { name: 'readiness with a wrong key', path: '/readyz', as: 'wrong key', status: 200 },
  { name: 'metrics', path: '/metrics', as: 'admin', status: 200 },
  {
    name: 'a method that health does not allow',
    method: 'POST',
    path: '/livez',
    status: 405,
    code: 'METHOD_NOT_ALLOWED',
  },
  { name: 'Sandbox', path: '/graphql', headers: { accept: 'text/html' }, status: 200 },
  { name: 'the start page', path: '/', status: 200 },
  { name: 'the start page with a wrong key', path: '/', as: 'wrong key', status: 200 },
  { name: 'GraphiQL', path: '/graphiql', status: 200 },
  { name: 'an existing asset', path: '/favicon.svg', status: 200 },
  { name: 'a missing asset', path: '/assets/x/page.css', status: 404, code: 'NOT_FOUND' },
];
