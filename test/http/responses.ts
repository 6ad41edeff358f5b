import { fields, PETS, PREFLIGHT } from './client';

/** A request on the data of `fillShop`, and the expected response. */
export interface Row {
  readonly status: number;
  readonly code: string | undefined;
  readonly name: string;
  /** An HTTP request (`POST /pets`) or a GraphQL operation. */
  readonly on: string;
  readonly body?: unknown;
  readonly variables?: object;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** The kind of caller; by default a key with the scopes READ and WRITE. */
  readonly as?: 'admin' | 'anonymous' | 'wrong key' | 'reader';
  /** The failure to simulate during the request. */
  readonly before?: 'a bug' | 'no database';
  /** The quota that the request uses; by default 1. */
  readonly cost?: number;
  /** Whether a banned caller gets the same response. */
  readonly isExempt?: boolean;
}

const CSV = { 'content-type': 'text/csv' };
const LONG = JSON.stringify({ name: 'x'.repeat(101 * 1024) });
const BY_ID = 'query ($id: ID!) { pet(id: $id) { id } }';
const SKIPPED = 'query ($id: ID!) { pet(id: $id) @skip(if: false) { id } pet(id: $id) { name } }';
const INCLUDED = 'query ($on: Boolean!) { pets @include(if: $on) { totalCount } }';

type Tuple = [status: number, code: string | undefined, name: string, on: string, more?: Partial<Row>];

/** Requests that use quota. They cover every status except 408, 429 and 431, which other tests cover. */
const COUNTED: readonly Tuple[] = [
  [200, undefined, 'a list', 'GET /pets'],
  [200, undefined, 'a query', PETS],
  [200, undefined, 'a query of three fields', fields(3), { cost: 3 }],
  [200, undefined, 'a mutation', 'mutation { createCategory(input: { name: "Cats" }) { id } }'],
  [201, undefined, 'a creation', 'POST /categories', { body: { name: 'Birds' } }],
  [204, undefined, 'a deletion', 'DELETE /pets/3'],
  [304, undefined, 'a read of an unchanged resource', 'GET /pets', { headers: { 'if-none-match': '*' } }],
  [200, undefined, 'HEAD', 'HEAD /pets'],
  [404, undefined, 'HEAD of an unknown path', 'HEAD /nothing'],
  [404, 'NOT_FOUND', 'an unknown pet in a deprecated operation', 'GET /pets/77'],
  [200, 'NOT_FOUND', 'a mutation that fails', 'mutation { deletePet(id: 77) { id } }'],
  [400, 'BAD_REQUEST', 'bad JSON', 'POST /pets', { body: '{' }],
  [400, 'BAD_REQUEST', 'bad JSON to GraphQL', 'POST /graphql', { body: '{' }],
  [400, 'BAD_REQUEST', 'an empty body', 'POST /pets', { body: '' }],
  [400, 'BAD_REQUEST', 'an empty body to GraphQL', 'POST /graphql', { body: '' }],
  [400, 'BAD_REQUEST', 'a body without a document', 'POST /graphql', { body: {} }],
  [400, 'BAD_REQUEST', 'a batch of operations', 'POST /graphql', { body: [{ query: '{ __typename }' }] }],
  [
    400,
    'GRAPHQL_VALIDATION_FAILED',
    'an unknown operation name',
    'POST /graphql',
    { body: { query: PETS, operationName: 'x' } },
  ],
  [400, 'BAD_REQUEST', 'a subscription', 'subscription { petChanged { kind } }'],
  [400, 'BAD_REQUEST', 'a URL that cannot be decoded', 'GET /pets/%zz'],
  [400, 'BAD_REQUEST', 'a GraphQL URL that cannot be decoded', 'GET /graphql?query=%zz'],
  [
    400,
    'BAD_REQUEST',
    'a POST to a GraphQL URL that cannot be decoded',
    'POST /graphql?x=%zz',
    { body: { query: PETS } },
  ],
  [400, 'BAD_REQUEST', 'a text/plain body', 'POST /graphql', { body: 'x', headers: { 'content-type': 'text/plain' } }],
  [400, 'BAD_USER_INPUT', 'bad input', 'GET /pets?limit=0'],
  [400, 'BAD_USER_INPUT', 'an unknown parameter', 'GET /pets?colour=red'],
  [400, 'BAD_USER_INPUT', 'a path parameter that is not an id', 'GET /pets/first'],
  [400, 'BAD_USER_INPUT', 'an invalid variable', BY_ID, { variables: { id: -1 } }],
  [400, 'BAD_USER_INPUT', 'a missing variable', BY_ID],
  [400, 'BAD_USER_INPUT', 'an invalid variable in a field with a directive', SKIPPED, { variables: { id: 'x' } }],
  [400, 'BAD_USER_INPUT', 'an invalid variable of a directive', INCLUDED, { variables: { on: 'yes' } }],
  [
    400,
    'BAD_USER_INPUT',
    'a missing variable of a directive on a field that uses no quota',
    'query ($on: Boolean!) { viewer @include(if: $on) { plan } }',
  ],
  [400, 'GRAPHQL_PARSE_FAILED', 'a document that does not parse', '{'],
  [400, 'GRAPHQL_VALIDATION_FAILED', 'an unknown field', '{ nothing }'],
  [400, 'GRAPHQL_VALIDATION_FAILED', 'an unknown field below a field that uses no quota', '{ viewer { nothing } }'],
  [400, 'GRAPHQL_VALIDATION_FAILED', 'an unknown field by GET', 'GET /graphql?query={nothing}'],
  [400, 'OPERATION_TOO_COMPLEX', 'more root fields than the quota per minute', fields(61)],
  [401, 'UNAUTHENTICATED', 'a request without a key', 'GET /pets', { as: 'anonymous' }],
  [401, 'UNAUTHENTICATED', 'a GraphQL request without a key', PETS, { as: 'anonymous' }],
  [401, 'UNAUTHENTICATED', 'a wrong key', 'GET /pets', { as: 'wrong key' }],
  [401, 'UNAUTHENTICATED', 'a wrong key to GraphQL', '{ __typename }', { as: 'wrong key' }],
  [401, 'UNAUTHENTICATED', 'a wrong key to an unknown path', 'GET /nothing', { as: 'wrong key' }],
  [401, 'UNAUTHENTICATED', 'Basic authentication', PETS, { as: 'anonymous', headers: { authorization: 'Basic eDp5' } }],
  [403, 'FORBIDDEN', 'a missing scope', 'DELETE /pets/77', { as: 'reader' }],
  [403, 'FORBIDDEN', 'a missing scope in GraphQL', 'mutation { deletePet(id: 77) { id } }', { as: 'reader' }],
  [403, 'FORBIDDEN', 'a missing scope for one of two fields', '{ a: pet(id: 1) { id } b: apiKeys { totalCount } }'],
  [404, 'NOT_FOUND', 'an unknown path', 'GET /nothing'],
  [404, 'NOT_FOUND', 'an unknown path below the docs', 'GET /docs/nothing'],
  [404, 'NOT_FOUND', 'an unknown pet', 'DELETE /pets/77'],
  [404, 'PERSISTED_QUERY_NOT_IN_LIST', 'an unknown document', 'POST /graphql', { body: { documentId: 'x' } }],
  [405, 'METHOD_NOT_ALLOWED', 'a method that the path does not allow', 'PUT /pets'],
  [405, 'METHOD_NOT_ALLOWED', 'a method that GraphQL does not allow', 'PUT /graphql'],
  [405, 'METHOD_NOT_ALLOWED', 'a method that a page does not allow', 'POST /docs'],
  [405, 'METHOD_NOT_ALLOWED', 'a method that the OpenAPI document does not allow', 'PUT /openapi.json'],
  [405, 'METHOD_NOT_ALLOWED', 'a method that /rate_limit does not allow', 'POST /rate_limit'],
  [405, 'METHOD_NOT_ALLOWED', 'a mutation by GET', 'GET /graphql?query=mutation{__typename}'],
  [406, 'NOT_ACCEPTABLE', 'an unsupported Accept header', 'GET /pets', { headers: { accept: 'image/png' } }],
  [409, 'CATEGORY_NOT_EMPTY', 'a conflict', 'DELETE /categories/1'],
  [
    412,
    'PRECONDITION_FAILED',
    'If-Match with a different ETag',
    'PATCH /pets/1',
    { body: {}, headers: { 'if-match': '"other"' } },
  ],
  [413, 'PAYLOAD_TOO_LARGE', 'a body that is too large', 'POST /pets', { body: LONG }],
  [413, 'PAYLOAD_TOO_LARGE', 'a body that is too large for GraphQL', 'POST /graphql', { body: LONG }],
  [414, 'URI_TOO_LONG', 'a URL that is too long', `GET ${'/pets?name='.padEnd(8193, 'x')}`],
  [414, 'URI_TOO_LONG', 'an unknown path that is too long', `GET ${'/nothing/'.padEnd(8193, 'x')}`],
  [414, 'URI_TOO_LONG', 'a URL that is too long for GraphQL', `GET ${'/graphql?query='.padEnd(8193, 'x')}`],
  [414, 'URI_TOO_LONG', 'a URL that is too long for a stream', `GET ${'/graphql/stream?query='.padEnd(8193, 'x')}`],
  [400, 'BAD_USER_INPUT', 'an unknown parameter in a URL of 8 KiB', `GET ${'/pets?filter='.padEnd(8192, 'x')}`],
  [415, 'UNSUPPORTED_MEDIA_TYPE', 'an unsupported content type', 'POST /pets', { body: 'a,b', headers: CSV }],
  [
    415,
    'UNSUPPORTED_MEDIA_TYPE',
    'an unsupported content type to GraphQL',
    'POST /graphql',
    { body: 'a,b', headers: CSV },
  ],
  [422, 'UNKNOWN_REFERENCE', 'a missing category', 'POST /pets', { body: { name: 'Rex', categoryId: 77 } }],
  [500, 'INTERNAL_SERVER_ERROR', 'a bug', 'GET /pets', { before: 'a bug' }],
  [200, 'INTERNAL_SERVER_ERROR', 'a bug in a GraphQL field', PETS, { before: 'a bug' }],
  [503, 'SERVICE_UNAVAILABLE', 'an unreachable database', 'GET /pets', { before: 'no database' }],
  [503, 'SERVICE_UNAVAILABLE', 'a write to an unreachable database', 'DELETE /pets/1', { before: 'no database' }],
  [200, 'SERVICE_UNAVAILABLE', 'a GraphQL query of an unreachable database', PETS, { before: 'no database' }],
  [404, 'NOT_FOUND', 'a missing asset', 'GET /assets/x/page.css'],
];

const FREE: readonly Tuple[] = [
  [200, undefined, '__typename', '{ __typename }'],
  [200, undefined, 'introspection', '{ __schema { types { name fields { name } } } }'],
  [
    200,
    undefined,
    'the rate limit of the caller',
    '{ rateLimit { bannedUntil cost } viewer { plan rateLimit { cost } } }',
  ],
  [200, undefined, 'a query by GET that uses no quota', 'GET /graphql?query={__typename}'],
  [200, undefined, 'the rate limit of the caller by REST', 'GET /rate_limit'],
  [200, undefined, 'the usage of the caller', 'GET /usage'],
];

const EXEMPT: readonly Tuple[] = [
  [204, undefined, 'a preflight', 'OPTIONS /pets', { headers: PREFLIGHT }],
  [204, undefined, 'a preflight of GraphQL', 'OPTIONS /graphql', { headers: PREFLIGHT }],
  [204, undefined, 'a preflight to an unknown path', 'OPTIONS /nothing', { headers: PREFLIGHT }],
  [204, undefined, 'OPTIONS', 'OPTIONS /pets'],
  [204, undefined, 'OPTIONS of GraphQL', 'OPTIONS /graphql'],
  [404, 'NOT_FOUND', 'OPTIONS of an unknown path', 'OPTIONS /nothing'],
  [200, undefined, 'the REST reference page', 'GET /docs/rest'],
  [200, undefined, 'the OpenAPI document', 'GET /openapi.json'],
  [200, undefined, 'the OpenAPI document in YAML', 'GET /openapi.yaml'],
  [200, undefined, '/livez', 'GET /livez'],
  [200, undefined, '/livez with a query', 'GET /livez?query=x'],
  [200, undefined, '/readyz', 'GET /readyz'],
  [200, undefined, '/readyz with a wrong key', 'GET /readyz', { as: 'wrong key' }],
  [405, 'METHOD_NOT_ALLOWED', 'a method that /livez does not allow', 'POST /livez'],
  [200, undefined, 'metrics', 'GET /metrics', { as: 'admin', isExempt: false }],
  [200, undefined, 'Sandbox', 'GET /graphql', { headers: { accept: 'text/html' } }],
  [200, undefined, 'the start page', 'GET /'],
  [200, undefined, 'the start page with a wrong key', 'GET /', { as: 'wrong key', cost: 1 }],
  [200, undefined, 'GraphiQL', 'GET /graphiql'],
  [200, undefined, 'an asset', 'GET /favicon.svg'],
];

export const RESPONSES: readonly Row[] = [
  ...COUNTED.map(rowOf),
  ...FREE.map(([status, code, name, on, more]) => rowOf([status, code, name, on, { cost: 0, ...more }])),
  ...EXEMPT.map(([status, code, name, on, more]) =>
    rowOf([status, code, name, on, { cost: 0, isExempt: true, ...more }]),
  ),
];

function rowOf([status, code, name, on, more]: Tuple): Row {
  return { status, code, name, on, ...more };
}
