import { createHash } from 'node:crypto';
import { fillShop } from '../helper/database';
import { type Gateway, startGateway } from '../helper/gateway';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway({});
  await fillShop(gateway.database);
});
afterAll(() => gateway.close());

const query = 'query Pet($id: ID!, $named: Boolean = true) { pet(id: $id) { id name @include(if: $named) } }';
const sha256Hash = createHash('sha256').update(query).digest('hex');
const variables = { id: '1' };
const STREAM = '/graphql/stream';
const persistedQuery = { version: 1, sha256Hash };
const extensions = { persistedQuery };

const post = (payload: object, type = 'application/json') => ({
  method: 'POST' as const,
  url: '/graphql',
  payload: JSON.stringify(payload),
  headers: { 'content-type': type },
});
const get = (parameters: Record<string, unknown>, headers = {}) => ({
  method: 'GET' as const,
  url: `/graphql?${new URLSearchParams(
    Object.entries(parameters).map(([name, value]): [string, string] => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  )}`,
  headers,
});

const FORMS = {
  'a query text by POST': post({ query, variables }),
  'a query text with a charset': post({ query, variables }, 'application/json; charset=utf-8'),
  'a query text with extensions': post({ query, variables, extensions: { clientLibrary: { name: 'any' } } }),
  'a hash of the query by POST': post({ variables, extensions }),
  'a hash and a query text by POST': post({ query, variables, extensions }),
  'a query text by GET': get({ query, variables }),
  'a hash of the query by GET': get({ variables, extensions }),
  'a hash of the query by GET from a browser': get(
    { variables, extensions },
    { 'sec-fetch-site': 'cross-site', 'x-apollo-operation-name': 'Pet' },
  ),
  'a query text and null for the other members': post({ query, variables, operationName: null, extensions: null }),
};

beforeAll(async () => {
  await gateway.app.inject(post({ query, variables, extensions }));
});

test.each(Object.entries(FORMS))('a GraphQL request may be sent as %s', async (_form, request) => {
  const answer = await gateway.app.inject(request);
  expect([answer.statusCode, answer.json().data]).toEqual([200, { pet: { id: '1', name: expect.any(String) } }]);
});

test('a query by GET is answered as an event stream if the client asks for one', async () => {
  const request = get({ query, variables }, { accept: 'text/event-stream' });
  const answer = await gateway.app.inject({ ...request, url: request.url.replace('/graphql', STREAM) });
  expect([answer.statusCode, answer.payload]).toEqual([
    200,
    expect.stringMatching(/^event: next\ndata: \{"data":\{"pet"/),
  ]);
});

test.each([
  ['a mutation by GET', get({ query: 'mutation { __typename }' }), 405],
  ['a GET that another site may have forged', get({ variables, extensions }, { 'sec-fetch-site': 'cross-site' }), 400],
  ['a hash that does not match the query text', post({ query: '{ __typename }', extensions }), 400],
  ['an unknown APQ version', post({ query, extensions: { persistedQuery: { version: 2, sha256Hash } } }), 400],
  ['variables that are not an object', post({ query, variables: [1] }), 400],
  ['variables in a body as a string', post({ query, variables: '{"id":"1"}' }), 400],
  ['extensions in a body as a string', post({ query, variables, extensions: JSON.stringify(extensions) }), 400],
  ['an operationName that is not a string', post({ query, variables, operationName: 7 }), 400],
  ['a text/plain body', post({ query, variables }, 'text/plain'), 400],
  ['an event stream without a query text', { url: STREAM, headers: { accept: 'text/event-stream' } }, 400],
  ['an event stream by PUT', { method: 'PUT' as const, url: STREAM }, 405],
  ['an event stream if the client accepts only JSON', { url: STREAM, headers: { accept: 'application/json' } }, 406],
])('a GraphQL request is rejected: %s', async (_what, request, status) => {
  const answer = await gateway.app.inject(request);
  expect(answer.statusCode).toBe(status);
  expect(answer.json().errors).toHaveLength(1);
});
