import { type Gateway, startGateway } from '../../helper/gateway';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const QUERY = { query: '{ __typename }' };

describe('a request that another site can send without a preflight is refused', () => {
  const TYPES = [
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'TEXT/PLAIN;charset=utf-8',
  ];

  test.each(TYPES)('POST /graphql with %s', async (type) => {
    const mutation = { query: 'mutation { createCategory(input: { name: "x" }) { id } }' };
    const response = await gateway.app.inject({
      method: 'POST',
      url: '/graphql',
      headers: { 'content-type': type, origin: 'https://evil.example' },
      payload: JSON.stringify(mutation),
    });
    expect([400, 415]).toContain(response.statusCode);
    expect(response.json().errors[0].extensions.requestId).toBe(response.headers['x-request-id']);
  });

  test.each(TYPES)('POST /pets with %s', async (type) => {
    const payload = '{"name":"Rex","categoryId":1}';
    const response = await gateway.app.inject({
      method: 'POST',
      url: '/pets',
      headers: { 'content-type': type },
      payload,
    });
    expect(response.statusCode).toBe(415);
  });

  test.each([
    { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' },
    { 'sec-fetch-site': 'same-site', accept: '*/*' },
    { origin: 'https://evil.example' },
    { referer: 'https://evil.example/page' },
    { cookie: 'session=1' },
  ])('GET /graphql with %j', async (headers) => {
    const response = await gateway.app.inject({ url: '/graphql', query: QUERY, headers: { ...headers } });
    expect(response.statusCode).toBe(400);
    expect(response.json().errors[0].extensions).toMatchObject({
      code: 'BAD_REQUEST',
      status: 400,
      requestId: response.headers['x-request-id'],
    });
  });
});

test('GET /graphql from a non-browser needs no such header', async () => {
  const response = await gateway.app.inject({ url: '/graphql', query: QUERY });
  expect([response.statusCode, response.json().data]).toEqual([200, { __typename: 'Query' }]);
});

test.each(['GET', 'HEAD'] as const)('no mutation runs over %s', async (method) => {
  const query = { query: 'mutation { createCategory(input: { name: "by GET" }) { id } }' };
  for (const headers of [{}, { 'content-type': 'application/json' }]) {
    const response = await gateway.app.inject({ method, url: '/graphql', headers, query });
    expect([response.statusCode, response.headers.allow]).toEqual([405, 'POST']);
  }
  expect(await gateway.data('{ categories(filter: { name: "by GET" }) { totalCount } }')).toEqual({
    categories: { totalCount: 0 },
  });
});

test('HEAD /graphql responds as GET does, without a body', async () => {
  for (const [query, headers] of [
    [QUERY, { 'content-type': 'application/json' }],
    [QUERY, {}],
    [{}, { accept: 'text/html' }],
    [{ query: '{' }, { 'content-type': 'application/json' }],
  ] as const) {
    const url = '/graphql';
    const get = await gateway.app.inject({ method: 'GET', url, query, headers });
    const head = await gateway.app.inject({ method: 'HEAD', url, query, headers });
    expect([head.statusCode, head.headers['content-type'], head.body]).toEqual([
      get.statusCode,
      get.headers['content-type'],
      '',
    ]);
  }
});

test('errors from Apollo itself have a request id, as all errors do', async () => {
  const headers = { 'content-type': 'application/json', 'x-request-id': 'mine' };
  for (const payload of [
    [QUERY],
    [],
    {},
    { query: '' },
    { query: 1 },
    { ...QUERY, variables: 'x' },
    { query: '{ nothing }' },
    { query: '{' },
  ]) {
    const response = await gateway.app.inject({ method: 'POST', url: '/graphql', headers, payload });
    expect(response.statusCode).toBe(400);
    expect(response.json().errors[0].extensions).toMatchObject({ status: 400, requestId: 'mine' });
  }
});
