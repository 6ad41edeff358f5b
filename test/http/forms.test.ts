import { createHash } from 'node:crypto';
import { fillShop } from '../helper/database';
import { ADMIN_KEY, type Gateway, startGateway } from '../helper/gateway';

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

/** The headers of browsers for requests of pages of other sites. */
const CROSS_SITE = {
  origin: 'https://shop.example',
  referer: 'https://shop.example/',
  cookie: 'a=b',
  'sec-fetch-site': 'cross-site',
  'sec-fetch-mode': 'cors',
};

const FORMS = {
  'a query text by POST': post({ query, variables }),
  'a query text with a charset': post({ query, variables }, 'application/json; charset=utf-8'),
  'a query text with extensions': post({ query, variables, extensions: { clientLibrary: { name: 'any' } } }),
  'a hash of the query by POST': post({ variables, extensions }),
  'a hash and a query text by POST': post({ query, variables, extensions }),
  'a query text by GET': get({ query, variables }),
  'a hash of the query by GET': get({ variables, extensions }),
  'a hash of the query by GET from a page of another site': get({ variables, extensions }, CROSS_SITE),
  'a query text by GET from a page of another site': get({ query, variables }, CROSS_SITE),
  'a query text by GET with a content type': get({ query, variables }, { 'content-type': 'text/plain' }),
  'a query text by GET and empty other parameters': get({
    query,
    variables,
    operationName: '',
    extensions: '',
    documentId: '',
  }),
  'a query text by GET and null for the other parameters': get({ query, variables, extensions: 'null' }),
  'a query text and null for the other members': post({
    query,
    variables,
    operationName: null,
    extensions: null,
    documentId: null,
  }),
};

beforeAll(async () => {
  await gateway.app.inject(post({ query, variables, extensions }));
});

test.each(Object.entries(FORMS))('a GraphQL request may be sent as %s', async (_form, request) => {
  const answer = await gateway.app.inject(request);
  expect([answer.statusCode, answer.json().data]).toEqual([200, { pet: { id: '1', name: expect.any(String) } }]);
});

test('a query by GET without variables may have an empty parameter `variables`, on both paths', async () => {
  for (const [path, accept] of [
    ['/graphql', '*/*'],
    [STREAM, 'text/event-stream'],
  ] as const) {
    const request = get({ query: '{ pet(id: 1) { id } }', variables: '', extensions: '', documentId: '' }, { accept });
    const answer = await gateway.app.inject({ ...request, url: request.url.replace('/graphql', path) });
    expect([answer.statusCode, answer.payload]).toEqual([200, expect.stringContaining('{"pet":{"id":"1"}}')]);
  }
});

test('HEAD from a page of another site is answered like GET, without a body', async () => {
  const answer = await gateway.app.inject({ ...get({ query, variables }, CROSS_SITE), method: 'HEAD' });
  expect([answer.statusCode, answer.payload]).toEqual([200, '']);
});

test('a query by GET is answered as an event stream if the client asks for one', async () => {
  const request = get({ query, variables }, { accept: 'text/event-stream', ...CROSS_SITE });
  const answer = await gateway.app.inject({ ...request, url: request.url.replace('/graphql', STREAM) });
  expect([answer.statusCode, answer.payload]).toEqual([
    200,
    expect.stringMatching(/^event: next\ndata: \{"data":\{"pet"/),
  ]);
});

test.each([
  ['a mutation by GET', get({ query: 'mutation { __typename }' }), 405],
  ['a mutation by GET from another site', get({ query: 'mutation { __typename }' }, CROSS_SITE), 405],
  [
    'a query by POST from a form of another site',
    { ...post({ query, variables }, 'text/plain'), headers: { ...CROSS_SITE, 'content-type': 'text/plain' } },
    400,
  ],
  ['a parameter that is given twice', { url: '/graphql?query={__typename}&query={__typename}' }, 400],
  [
    'a parameter of a stream that is given twice',
    { url: `${STREAM}?query={__typename}&query={__typename}`, headers: { accept: 'text/event-stream' } },
    400,
  ],
  ['variables in a URL that are not an object', get({ query, variables: '[1]' }), 400],
  ['extensions in a URL that are not JSON', get({ query, variables, extensions: '{' }), 400],
  ['a URL without a query', get({ variables }), 400],
  ['a documentId that is not a string', post({ documentId: 7 }), 400],
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

describe('a subscription that is sent to /graphql is rejected with a hint at the right transports', () => {
  const subscription = 'subscription { petChanged { kind } }';
  const BY_POST = post({ query: subscription });
  const BY_GET = get({ query: subscription });
  const JSON_TYPE = 'application/json; charset=utf-8';
  const RESPONSE_TYPE = 'application/graphql-response+json; charset=utf-8';

  test.each<[accept: string | undefined, status: number, type: string]>([
    [undefined, 400, JSON_TYPE],
    ['*/*', 400, JSON_TYPE],
    ['application/json', 400, JSON_TYPE],
    ['application/graphql-response+json, application/json;q=0.9', 400, RESPONSE_TYPE],
    ['multipart/mixed;boundary="graphql";subscriptionSpec="1.0",application/json', 400, JSON_TYPE],
    ['multipart/mixed, application/graphql-response+json', 400, RESPONSE_TYPE],
    ['text/event-stream, application/json', 400, JSON_TYPE],
    ['text/event-stream', 406, JSON_TYPE],
    ['multipart/mixed', 406, JSON_TYPE],
    ['multipart/mixed;boundary=graphql;subscriptionSpec=1.0, text/event-stream', 406, JSON_TYPE],
  ])('Accept: %s gets %i', async (accept, status, type) => {
    for (const request of [BY_POST, BY_GET]) {
      const headers = { ...request.headers, ...(accept && { accept }) };
      const answer = await gateway.app.inject({ ...request, headers });
      const [error] = answer.json().errors;
      const code = status === 406 ? 'NOT_ACCEPTABLE' : 'BAD_REQUEST';
      expect([answer.statusCode, answer.headers['content-type'], error.extensions.code]).toEqual([status, type, code]);
      expect(error.message).toMatch(/WebSocket .* at \/graphql, and as server-sent events at \/graphql\/stream/);
      expect(answer.headers.allow).toBeUndefined();
    }
  });
});

describe('a page without a user sends empty keys, which count as none:', () => {
  test.each<[name: string, headers: Record<string, string>, plan: string]>([
    ['X-API-Key', { 'x-api-key': '' }, 'FREE'],
    ['Authorization', { authorization: '' }, 'FREE'],
    ['Authorization with blanks', { authorization: '  ' }, 'FREE'],
    ['Bearer', { authorization: 'Bearer' }, 'FREE'],
    ['bearer with blanks', { authorization: 'bearer  ' }, 'FREE'],
    ['both headers', { 'x-api-key': '', authorization: 'Bearer ' }, 'FREE'],
    [
      'X-API-Key, beside a key in Authorization',
      { 'x-api-key': '', authorization: `Bearer ${ADMIN_KEY}` },
      'ENTERPRISE',
    ],
    ['Authorization, beside a key in X-API-Key', { 'x-api-key': ADMIN_KEY, authorization: '' }, 'ENTERPRISE'],
  ])('%s', async (_name, headers, plan) => {
    const answer = await gateway.server.inject({
      ...post({ query: '{ viewer { plan } }' }),
      headers: { 'content-type': 'application/json', ...headers },
    });
    expect([answer.statusCode, answer.json().data]).toEqual([200, { viewer: { plan } }]);
    const rest = await gateway.server.inject({ url: '/rate_limit', headers });
    expect([rest.statusCode, rest.json().plan]).toEqual([200, plan]);
  });

  test.each([
    { authorization: 'Basic eDp5' },
    { authorization: 'Basic' },
    { authorization: 'Bearer undefined' },
    { authorization: ADMIN_KEY },
    { authorization: `Bearer${ADMIN_KEY}` },
    { 'x-api-key': 'null' },
  ])('but not %j', async (headers) => {
    expect((await gateway.server.inject({ url: '/pets', headers })).statusCode).toBe(401);
  });
});
