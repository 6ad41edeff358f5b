import { type Gateway, startGateway } from '../helper/gateway';

// matrix.test.ts tests which scope each operation needs. This file tests how a request without the scope is rejected.
let gateway: Gateway;
let closed: Gateway;
let reader: Record<string, string>;
beforeAll(async () => {
  gateway = await startGateway();
  closed = await gateway.another({ ANONYMOUS_ACCESS: 'none' });
  reader = (await gateway.createKey({ scopes: ['READ'] })).headers;
});
afterAll(async () => {
  await closed.close();
  await gateway.close();
});

const ANONYMOUS = { 'x-api-key': undefined };
const CREATE = 'createCategory(input: { name: "Birds" }) { id }';

test('the errors of GraphQL and REST name the scope that the key lacks', async () => {
  const message = 'This operation needs an API key with the scope WRITE; this key does not have it.';
  const problem = { code: 'FORBIDDEN', status: 403, requestId: expect.any(String) };
  const { status, data, errors } = await gateway.graphql(`mutation { ${CREATE} }`, undefined, reader);
  expect([status, data, errors]).toEqual([403, undefined, [{ message, extensions: problem }]]);
  const rest = await gateway.app.inject({ method: 'DELETE', url: '/pets/1', headers: reader });
  expect([rest.statusCode, rest.json()]).toEqual([403, { message, ...problem }]);
  expect(rest.headers).not.toHaveProperty('www-authenticate');
});

test('an anonymous caller that lacks a required scope gets 401 with the header WWW-Authenticate', async () => {
  expect(await gateway.graphql('{ apiKeys { totalCount } }', undefined, ANONYMOUS)).toMatchObject({
    status: 401,
    data: undefined,
    errors: [{ extensions: { code: 'UNAUTHENTICATED', status: 401 } }],
    headers: { 'www-authenticate': 'Bearer realm="petstore"' },
  });
});

test.each([
  ['POST', '/pets', '{}'],
  ['POST', '/pets', '{'],
  ['PUT', '/pets/1', '{}'],
  ['DELETE', '/pets/abc', undefined],
] as const)('a missing scope is reported before any other error: %s %s %s', async (method, url, payload) => {
  const type = payload && { 'content-type': 'application/json' };
  const key = await gateway.app.inject({ method, url, payload, headers: { ...reader, ...type } });
  const none = await closed.server.inject({ method, url, payload, headers: { ...type } });
  expect([key.json().code, none.json().code]).toEqual(['FORBIDDEN', 'UNAUTHENTICATED']);
});

const ADMIN = 'createApiKey(input: { name: "mine", scopes: [ADMIN] }) { secret }';

test.each([
  `mutation { ${CREATE} ${ADMIN} }`,
  `mutation { ${CREATE} other: ${ADMIN} }`,
  `mutation { ${CREATE} ... on Mutation { ${ADMIN} } }`,
  `mutation { ${CREATE} ...more } fragment more on Mutation { ${ADMIN} }`,
  `mutation ($yes: Boolean = true) { ${CREATE} ${ADMIN.replace(') {', ') @include(if: $yes) {')} }`,
])('no field of an operation runs if the key lacks the scope of one field: %s', async (query) => {
  const { headers } = await gateway.createKey({ scopes: ['WRITE'] });
  const { status, data } = await gateway.graphql(query, undefined, headers);
  expect([status, data]).toEqual([403, undefined]);
  expect(await gateway.data('{ categories { totalCount } }')).toEqual({ categories: { totalCount: 0 } });
});

test('a field that @include skips needs no scope', async () => {
  const query = 'query ($no: Boolean!) { pets { totalCount } apiKeys @include(if: $no) { totalCount } }';
  expect((await gateway.graphql(query, { no: false }, reader)).status).toBe(200);
  expect((await gateway.graphql(query, { no: true }, reader)).status).toBe(403);
});

test('the scopes of the viewer include implied scopes, and introspection needs no scope', async () => {
  const query = '{ viewer { scopes apiKey { scopes } } __schema { queryType { name } } }';
  const { headers } = await gateway.createKey({ scopes: ['ADMIN'] });
  expect((await gateway.graphql(query, undefined, headers)).data.viewer).toEqual({
    scopes: ['READ', 'ORDER', 'WRITE', 'ADMIN'],
    apiKey: { scopes: ['ADMIN'] },
  });
  const { status, data } = await closed.graphql(query, undefined, ANONYMOUS);
  expect([status, data.viewer]).toEqual([200, { scopes: [], apiKey: null }]);
});
