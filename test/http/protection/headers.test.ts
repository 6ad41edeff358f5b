import type { Socket } from 'node:net';
import { ADMIN_KEY, type Gateway, startGateway } from '../../helper/gateway';
import { toldBy } from '../../helper/standing';
import { exchange, parseResponse } from '../../helper/wire';
import { checkBody, checkHeaders, checkHelp } from '../answers';
import { fields, REQUESTS, type Request } from '../requests';

let gateway: Gateway;
let url: string;
let dogs: string;
/** The headers of each kind of caller. */
let callers: Record<NonNullable<Request['as']> | 'usual', Record<string, string>>;
beforeAll(async () => {
  gateway = await startGateway({ ANONYMOUS_ACCESS: 'none' });
  url = await gateway.listen();
  dogs = await createCategory();
  callers = {
    usual: (await gateway.createKey({ plan: 'BUSINESS' })).headers,
    reader: (await gateway.createKey({ plan: 'BUSINESS', scopes: ['READ'] })).headers,
    free: (await gateway.createKey()).headers,
    admin: { 'x-api-key': ADMIN_KEY },
    anonymous: {},
    'wrong key': { 'x-api-key': 'x' },
  };
});
afterEach(() => jest.restoreAllMocks());
afterAll(() => gateway.close());

const bug = new Error('relation "pets" does not exist at /srv/petstore/src/database/select.ts:7 (select classified)');
const gone = Object.assign(new Error('connect ECONNREFUSED 10.0.0.5:5432'), { code: 'ECONNREFUSED' });

describe('the headers are on the response to', () => {
  test.each(REQUESTS)('$name: $status', async (request) => {
    await prepare(request);
    const { status, headers, body } = await send(request, callers[request.as ?? 'usual']);
    expect(status).toBe(request.status);
    checkHeaders(status, headers, { isChange: !['GET', 'HEAD'].includes(request.method ?? 'GET') });
    checkBody(request, body);
    if (request.method !== 'HEAD') checkHelp(status, headers, body);
  });

  test('any request over the limit, then of a banned caller: 429', async () => {
    const { headers: caller } = await gateway.createKey();
    await send({ graphql: fields(60) }, caller);
    for (let i = 0; i < 20; i++) {
      const { status, headers, body } = await send({ path: '/pets' }, caller);
      expect([status, JSON.parse(body).code]).toEqual([429, 'RATE_LIMITED']);
      checkHeaders(429, headers);
    }
    for (const request of REQUESTS.filter(isRefusable)) {
      const { status, headers, body } = await send(request, caller);
      expect([request.name, status]).toEqual([request.name, 429]);
      checkHeaders(429, headers);
      if (request.method !== 'HEAD') checkHelp(429, headers, body);
      checkBody({ ...request, code: 'KEY_BANNED', status: 429 }, body);
    }
  });
});

describe('the headers are on the response to what the HTTP parser refuses, or would answer by itself', () => {
  const requests: [string, string, number, string | undefined][] = [
    ['a request that is not HTTP', 'GARBAGE\r\n\r\n', 400, 'BAD_REQUEST'],
    ['a TLS handshake', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400, 'BAD_REQUEST'],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400, 'BAD_REQUEST'],
    [
      'two lengths',
      'POST /pets HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
      400,
      'BAD_REQUEST',
    ],
    [
      'a chunk without a size',
      `POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`,
      400,
      'BAD_REQUEST',
    ],
    [
      'a head of 20,000 characters',
      `GET /${'a'.repeat(20_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`,
      431,
      'HEADERS_TOO_LARGE',
    ],
    ['no Host', 'GET /openapi.json HTTP/1.1\r\n\r\n', 400, 'BAD_REQUEST'],
    ['two Hosts', 'GET /openapi.json HTTP/1.1\r\nHost: a\r\nhost: a\r\n\r\n', 400, 'BAD_REQUEST'],
    ['two Hosts of HTTP/1.0', 'GET /pets HTTP/1.0\r\nHost: localhost\r\nHost: a\r\n\r\n', 400, 'BAD_REQUEST'],
    [
      'an unknown expectation',
      'GET /openapi.json HTTP/1.1\r\nHost: localhost\r\nExpect: miracles\r\n\r\n',
      200,
      undefined,
    ],
    ['HTTP/1.0, without a Host', 'GET /openapi.json HTTP/1.0\r\n\r\n', 200, undefined],
  ];
  test.each(requests)('%s', async (_name, text, status, code) => {
    const response = parseResponse(await exchange(url, text));
    expect(response.status).toBe(status);
    checkHeaders(status, response.headers, { isCrossOrigin: response.headers.connection !== 'close' });
    if (code) checkBody({ status, code }, response.body);
  });

  test('a request that does not arrive in time', async () => {
    const connected = new Promise<Socket>((resolve) => gateway.server.server.once('connection', resolve));
    const received = exchange(url, 'GET /pets HTT');
    const timeout = Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
    gateway.server.server.emit('clientError', timeout, await connected);
    const response = parseResponse(await received);
    expect(response.status).toBe(408);
    checkHeaders(408, response.headers, { isCrossOrigin: false });
    checkBody({ status: 408, code: 'REQUEST_TIMEOUT' }, response.body);
  });
});

test('a key that cannot be looked up gets 503, which counts against nobody', async () => {
  const { prisma } = gateway.database;
  const { headers: caller } = await gateway.createKey();
  const left = async () => toldBy((await send({ graphql: '{ __typename }' }, {})).headers).remaining;
  const before = await left();
  Object.assign(gateway.database, { prisma: { apiKey: { findUnique: () => Promise.reject(gone) } } });
  try {
    for (const request of [{ path: '/pets' }, { graphql: '{ viewer { plan } }' }, { path: '/nothing' }]) {
      const { status, headers, body } = await send(request, caller);
      expect(status).toBe(503);
      checkHeaders(503, headers);
      checkBody({ ...request, status: 503, code: 'SERVICE_UNAVAILABLE' }, body);
    }
  } finally {
    Object.assign(gateway.database, { prisma });
  }
  expect(await left()).toBe(before);
  expect(toldBy((await send({ path: '/pets' }, caller)).headers).remaining).toBe(59);
});

test('GraphQL errors have Retry-After where 503 would, and no others do', async () => {
  const { usual } = callers;
  const graphql = '{ pets { totalCount } }';
  const streamed = { path: '/graphql/stream', headers: { accept: 'text/event-stream' } };
  const ask = async () => {
    const byGet = { path: `/graphql?${new URLSearchParams({ query: graphql })}` };
    const asked = [{ graphql }, byGet, { graphql, ...streamed }];
    const answers = await Promise.all(asked.map((request) => send(request, usual)));
    return answers.map(({ status, headers, body }) => [
      status,
      headers['retry-after'],
      /"code":"(\w+)"/.exec(body)?.[1],
    ]);
  };
  expect(await ask()).toEqual(Array(3).fill([200, undefined, undefined]));
  failWith(gone);
  expect(await ask()).toEqual(Array(3).fill([200, '5', 'SERVICE_UNAVAILABLE']));
  failWith(bug);
  expect(await ask()).toEqual(Array(3).fill([200, undefined, 'INTERNAL_SERVER_ERROR']));
});

test('CORS_ORIGINS lists the origins that a browser may call from', async () => {
  const instance = await gateway.another({ CORS_ORIGINS: 'https://shop.example, http://localhost:3000' });
  for (const [origin, allowed] of [
    ['https://shop.example', 'https://shop.example'],
    ['http://localhost:3000', 'http://localhost:3000'],
    ['https://evil.example', undefined],
    ['https://shop.example.evil.example', undefined],
    ['null', undefined],
  ]) {
    for (const request of [{ method: 'OPTIONS' as const, url: '/graphql' }, { url: '/pets' }, { url: '/nothing' }]) {
      const { headers } = await instance.app.inject({
        ...request,
        headers: {
          origin,
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'x-api-key',
        },
      });
      expect(headers['access-control-allow-origin']).toBe(allowed);
      expect(headers).not.toHaveProperty('access-control-allow-credentials');
      expect(headers.vary).toContain('Origin');
      if (request.method && allowed) expect(headers['access-control-allow-headers']).toBe('x-api-key');
    }
  }
  await instance.close();
});

test('the quota falls by the cost of each request, in both windows, on both interfaces', async () => {
  const { headers: caller } = await gateway.createKey({ plan: 'PRO' });
  let minute = 300;
  let day = 10_000;
  for (const [cost, request] of [
    [1, { path: '/pets' }],
    [1, { graphql: '{ pets { totalCount } }' }],
    [3, { graphql: fields(3) }],
    [0, { graphql: '{ viewer { plan } rateLimit { cost } __typename }' }],
    [100, { graphql: fields(100) }],
    [1, { path: '/nothing' }],
    [1, { graphql: '{' }],
    [0, { path: '/openapi.json' }],
    [0, { method: 'OPTIONS', path: '/pets' }],
    [1, { method: 'HEAD', path: '/pets' }],
    [42, { graphql: fields(42) }],
  ] as [number, Partial<Request>][]) {
    const answer = await send(request, caller);
    minute -= cost;
    day -= cost;
    expect({ request, ...toldBy(answer.headers) }).toMatchObject({
      request,
      limit: 300,
      remaining: minute,
      windows: { minute: { q: 300, w: 60, r: minute }, day: { q: 10_000, w: 86_400, r: day } },
    });
    if (answer.status === 200 && request.graphql) {
      const { cost: told } = JSON.parse(answer.body).extensions;
      expect(told).toEqual({ operation: cost, estimated: expect.any(Number), remaining: { minute, day } });
    }
  }
});

/** Whether a banned caller is refused it: everything but health, pages and preflights. */
function isRefusable({ before, as, status, method, path = '', headers }: Request): boolean {
  const isPage = /^\/($|docs\/|openapi|graphiql|favicon)/.test(path) || headers?.accept === 'text/html';
  const isExempt = isPage || method === 'OPTIONS' || path === '/livez';
  return !before && !as && status !== 304 && !isExempt;
}

async function send({ path = '/graphql', method, headers, body, graphql }: Partial<Request>, as: object) {
  const type = graphql === undefined ? undefined : { 'content-type': 'application/json' };
  const response = await fetch(url + (await filled(path)), {
    method: method ?? (graphql === undefined ? 'GET' : 'POST'),
    headers: { ...type, ...headers, ...as },
    body: graphql === undefined ? body : JSON.stringify({ query: graphql }),
  });
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    body: await response.text(),
  };
}

async function prepare({ before }: Request): Promise<void> {
  if (before === 'a pet')
    await gateway.data(`mutation { createPet(input: { name: "Rex", categoryId: ${dogs} }) { id } }`);
  if (before === 'a bug') failWith(bug);
  if (before === 'no database') failWith(gone);
}

function failWith(error: Error): void {
  for (const method of ['query', 'write', 'transaction'] as const)
    jest.spyOn(gateway.database, method).mockRejectedValue(error);
}

async function filled(path: string): Promise<string> {
  return path.replace('{dogs}', dogs).replace('{empty}', path.includes('{empty}') ? await createCategory() : '');
}

async function createCategory(): Promise<string> {
  const { createCategory } = await gateway.data('mutation { createCategory(input: { name: "Dogs" }) { id } }');
  return String(createCategory?.id);
}
