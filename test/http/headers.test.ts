import type { Socket } from 'node:net';
import { type Gateway, startGateway, type TestKey } from '../helper/gateway';
import { type Told, toldBy } from '../helper/standing';
import { exchange, parseResponse } from '../helper/wire';

let gateway: Gateway;
let url: string;
let key: TestKey;
let reader: TestKey;
let categoryId: string;
beforeAll(async () => {
  gateway = await startGateway({ ANONYMOUS_ACCESS: 'none' });
  url = await gateway.listen();
  key = await gateway.createKey({ plan: 'BUSINESS' });
  reader = await gateway.createKey({ plan: 'BUSINESS', scopes: ['READ'] });
  const { createCategory } = await gateway.data(
    'mutation { createCategory(input: { name: "Dogs" }) { id } }',
  );
  categoryId = String(createCategory?.id);
});
afterEach(() => jest.restoreAllMocks());
afterAll(() => gateway.close());

/** A request and what it is answered. `graphql` is a shorthand for the body of a POST to /graphql. */
interface Row {
  name: string;
  path?: string;
  method?: string;
  headers?: Record<string, string>;
  body?: string;
  graphql?: string;
  status: number;
  code?: string;
  /** A caller other than the usual key. */
  as?: () => Record<string, string>;
  before?: () => Promise<unknown> | unknown;
}

const JSON_BODY = { 'content-type': 'application/json' };
const PREFLIGHT = { origin: 'https://shop.example', 'access-control-request-method': 'POST' };
const ANONYMOUS = () => ({});

const failWith = (error: Error) => () => {
  for (const method of ['query', 'transaction'] as const) {
    jest.spyOn(gateway.database, method).mockRejectedValue(error);
  }
};
const bug = new Error(
  'relation "pets" does not exist at /srv/petstore/src/database/select.ts:7 (select secret)',
);
const gone = Object.assign(new Error('connect ECONNREFUSED 10.0.0.5:5432'), { code: 'ECONNREFUSED' });

const ROWS: Row[] = [
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
  { name: 'a deletion', method: 'DELETE', path: '/categories/{last}', status: 204 },
  { name: 'a read that is known', path: '/pets', headers: { 'if-none-match': '*' }, status: 304 },
  { name: 'HEAD', method: 'HEAD', path: '/pets', status: 200 },
  { name: 'HEAD of nothing', method: 'HEAD', path: '/nothing', status: 404 },
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
    name: 'a variable that is missing',
    graphql: 'query ($id: ID!) { pet(id: $id) { id } }',
    status: 400,
    code: 'BAD_USER_INPUT',
  },
  {
    name: 'an operation that is too large',
    graphql: fields(1001),
    status: 400,
    code: 'OPERATION_TOO_COMPLEX',
  },
  { name: 'what could be CSRF', path: '/graphql?query={__typename}', status: 400, code: 'BAD_REQUEST' },
  { name: 'no key', path: '/pets', as: ANONYMOUS, status: 401, code: 'UNAUTHENTICATED' },
  {
    name: 'a wrong key',
    path: '/pets',
    as: () => ({ 'x-api-key': 'x' }),
    status: 401,
    code: 'UNAUTHENTICATED',
  },
  {
    name: 'a wrong key to GraphQL',
    graphql: '{ __typename }',
    as: () => ({ 'x-api-key': 'x' }),
    status: 401,
    code: 'UNAUTHENTICATED',
  },
  {
    name: 'a wrong key to nowhere',
    path: '/nothing',
    as: () => ({ 'x-api-key': 'x' }),
    status: 401,
    code: 'UNAUTHENTICATED',
  },
  {
    name: 'a missing scope',
    method: 'DELETE',
    path: '/pets/77',
    as: () => reader.headers,
    status: 403,
    code: 'FORBIDDEN',
  },
  {
    name: 'a missing scope of GraphQL',
    graphql: '{ apiKeys { totalCount } }',
    as: () => reader.headers,
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
    name: 'a method that GraphQL does not know',
    method: 'PUT',
    path: '/graphql',
    status: 405,
    code: 'METHOD_NOT_ALLOWED',
  },
  {
    name: 'what cannot be accepted',
    path: '/pets',
    headers: { accept: 'image/png' },
    status: 406,
    code: 'NOT_ACCEPTABLE',
  },
  {
    name: 'a conflict',
    method: 'DELETE',
    path: '/categories/{first}',
    before: createPet,
    status: 409,
    code: 'CATEGORY_NOT_EMPTY',
  },
  {
    name: 'a body too large',
    method: 'POST',
    path: '/pets',
    headers: JSON_BODY,
    body: long(),
    status: 413,
    code: 'PAYLOAD_TOO_LARGE',
  },
  {
    name: 'a body too large for GraphQL',
    method: 'POST',
    path: '/graphql',
    headers: JSON_BODY,
    body: long(),
    status: 413,
    code: 'PAYLOAD_TOO_LARGE',
  },
  {
    name: 'a body of another type',
    method: 'POST',
    path: '/pets',
    headers: { 'content-type': 'text/csv' },
    body: 'a,b',
    status: 415,
    code: 'UNSUPPORTED_MEDIA_TYPE',
  },
  {
    name: 'a body of another type to GraphQL',
    method: 'POST',
    path: '/graphql',
    headers: { 'content-type': 'text/csv' },
    body: 'a,b',
    status: 415,
    code: 'UNSUPPORTED_MEDIA_TYPE',
  },
  {
    name: 'a reference to nothing',
    method: 'POST',
    path: '/pets',
    headers: JSON_BODY,
    body: '{"name":"Rex","categoryId":77}',
    status: 422,
    code: 'UNKNOWN_REFERENCE',
  },
  { name: 'a bug', path: '/pets', before: failWith(bug), status: 500, code: 'INTERNAL_SERVER_ERROR' },
  {
    name: 'a bug behind GraphQL',
    graphql: '{ pets { nodes { id } } }',
    before: failWith(bug),
    status: 200,
    code: 'INTERNAL_SERVER_ERROR',
  },
  {
    name: 'a database that is gone',
    path: '/pets',
    before: failWith(gone),
    status: 503,
    code: 'SERVICE_UNAVAILABLE',
  },
  {
    name: 'a database that is gone before a write',
    method: 'DELETE',
    path: '/pets/1',
    before: failWith(gone),
    status: 503,
    code: 'SERVICE_UNAVAILABLE',
  },

  { name: 'a preflight', method: 'OPTIONS', path: '/pets', headers: PREFLIGHT, as: ANONYMOUS, status: 204 },
  {
    name: 'a preflight of GraphQL',
    method: 'OPTIONS',
    path: '/graphql',
    headers: PREFLIGHT,
    as: ANONYMOUS,
    status: 204,
  },
  {
    name: 'a preflight to nowhere',
    method: 'OPTIONS',
    path: '/nothing',
    headers: PREFLIGHT,
    as: ANONYMOUS,
    status: 204,
  },
  { name: 'OPTIONS that is no preflight', method: 'OPTIONS', path: '/pets', status: 204 },
  { name: 'OPTIONS of GraphQL that is no preflight', method: 'OPTIONS', path: '/graphql', status: 204 },
  { name: 'OPTIONS of nowhere that is no preflight', method: 'OPTIONS', path: '/nothing', status: 204 },
  { name: 'the documentation', path: '/docs', status: 200 },
  { name: 'the OpenAPI document', path: '/openapi.json', status: 200 },
  { name: 'the OpenAPI document in YAML', path: '/openapi.yaml', status: 200 },
  { name: 'the landing page', path: '/graphql', headers: { accept: 'text/html' }, status: 200 },
];

describe('the headers stand on the answer to', () => {
  test.each(ROWS)('$name: $status', async (row) => {
    await row.before?.();
    const { status, headers, body } = await send(row);
    expect(status).toBe(row.status);
    checkHeaders(status, headers);
    checkBody(row, body);
  });

  test('requests over the limit, then of a banned caller: 429, whatever they ask', async () => {
    const { headers } = await gateway.createKey();
    await send({ name: '', graphql: fields(60), as: () => headers, status: 200 });
    for (let i = 0; i < 20; i++) {
      const { status, ...answer } = await send({ name: '', path: '/pets', as: () => headers, status: 429 });
      expect([status, JSON.parse(answer.body).code]).toEqual([429, 'RATE_LIMITED']);
      checkHeaders(429, answer.headers);
    }
    const isAsked = ({ before, as, headers: sent = {} }: Row) => !before && !as && !sent['if-none-match'];
    for (const row of ROWS.filter(isAsked)) {
      const { status, ...answer } = await send({ ...row, as: () => headers });
      expect([row.name, status]).toEqual([row.name, 429]);
      checkHeaders(429, answer.headers);
      checkBody({ ...row, code: 'KEY_BANNED', status: 429 }, answer.body);
    }
  });
});

describe('the headers stand on what the HTTP parser refuses, or would answer by itself', () => {
  const requests: [string, string, number, string | undefined][] = [
    ['what is not HTTP', 'GARBAGE\r\n\r\n', 400, 'BAD_REQUEST'],
    ['a TLS handshake', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400, 'BAD_REQUEST'],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400, 'BAD_REQUEST'],
    [
      'two lengths',
      'POST /pets HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
      400,
      'BAD_REQUEST',
    ],
    [
      'a chunk without a size',
      `POST /pets HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`,
      400,
      'BAD_REQUEST',
    ],
    [
      'a head of 20,000 characters',
      `GET /${'a'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
      431,
      'HEADERS_TOO_LARGE',
    ],
    ['no Host', 'GET /openapi.json HTTP/1.1\r\n\r\n', 400, 'BAD_REQUEST'],
    [
      'an expectation that is not known',
      'GET /openapi.json HTTP/1.1\r\nHost: x\r\nExpect: miracles\r\n\r\n',
      200,
      undefined,
    ],
    ['HTTP/1.0, without a Host', 'GET /openapi.json HTTP/1.0\r\n\r\n', 200, undefined],
  ];
  test.each(requests)('%s', async (_name, text, status, code) => {
    const response = parseResponse(await exchange(url, text));
    expect(response.status).toBe(status);
    checkHeaders(status, response.headers, { isCrossOrigin: response.headers.connection !== 'close' });
    if (code) checkBody({ name: '', status, code }, response.body);
  });

  test('a request that does not arrive in time', async () => {
    const connected = new Promise<Socket>((resolve) => gateway.server.server.once('connection', resolve));
    const received = exchange(url, 'GET /pets HTT');
    const timeout = Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
    gateway.server.server.emit('clientError', timeout, await connected);
    const response = parseResponse(await received);
    expect(response.status).toBe(408);
    checkHeaders(408, response.headers, { isCrossOrigin: false });
    checkBody({ name: '', status: 408, code: 'REQUEST_TIMEOUT' }, response.body);
  });
});

test('a key that cannot be looked up is answered 503, which counts for nobody', async () => {
  const { prisma } = gateway.database;
  const { headers } = await gateway.createKey();
  const apiKey = { findUnique: () => Promise.reject(gone) };
  Object.assign(gateway.database, { prisma: { apiKey } });
  try {
    for (let i = 0; i < 3; i++) {
      const { status, ...answer } = await send({ name: '', path: '/pets', as: () => headers, status: 503 });
      expect(status).toBe(503);
      checkHeaders(503, answer.headers);
      checkBody({ name: '', status: 503, code: 'SERVICE_UNAVAILABLE' }, answer.body);
    }
  } finally {
    Object.assign(gateway.database, { prisma });
  }
  const { headers: after } = await send({ name: '', path: '/pets', as: () => headers, status: 200 });
  expect(toldBy(after).remaining).toBe(59);
});

test('the numbers fall by what each request costs, in both windows, on both doors', async () => {
  const { headers } = await gateway.createKey({ plan: 'PRO' });
  const as = () => headers;
  let minute = 300;
  let day = 10_000;
  for (const [cost, row] of [
    [1, { path: '/pets' }],
    [1, { graphql: '{ pets { totalCount } }' }],
    [3, { graphql: fields(3) }],
    [0, { graphql: '{ viewer { plan } rateLimit { cost } __typename }' }],
    [250, { graphql: fields(250) }],
    [1, { path: '/nothing' }],
    [1, { graphql: '{' }],
    [0, { path: '/openapi.json' }],
    [0, { method: 'OPTIONS', path: '/pets' }],
    [1, { method: 'HEAD', path: '/pets' }],
    [42, { graphql: fields(42) }],
  ] as [number, Partial<Row>][]) {
    const answer = await send({ name: '', status: 200, as, ...row });
    minute -= cost;
    day -= cost;
    expect({ row, ...toldBy(answer.headers) }).toMatchObject({
      row,
      limit: 300,
      remaining: minute,
      windows: { minute: { q: 300, w: 60, r: minute }, day: { q: 10_000, w: 86_400, r: day } },
    });
    if (answer.status === 200 && row.graphql) {
      const { cost: told } = JSON.parse(answer.body).extensions;
      expect(told).toEqual({ operation: cost, remaining: { minute, day } });
    }
  }
});

function checkHeaders(status: number, headers: Record<string, string>, { isCrossOrigin = true } = {}): void {
  const told = toldBy(headers);
  const now = Date.now() / 1000;
  expect(Object.keys(told.windows).slice(0, 2)).toEqual(['minute', 'day']);
  const lengths = { minute: 60, day: 86_400, uncounted: 60 };
  for (const [name, { q, w, r, t }] of Object.entries(told.windows)) {
    expect(w).toBe(lengths[name as keyof typeof lengths]);
    expect([r >= 0 && r <= q, t >= 0 && t <= w]).toEqual([true, true]);
  }
  const inForce = Object.values(told.windows).find(({ q, r }) => q === told.limit && r === told.remaining);
  expect(Math.abs(told.reset - now - (inForce?.t ?? Number.NaN))).toBeLessThan(5);
  expect(headers['x-request-id']).toMatch(/^[\w-]{36}$/);
  checkRetryAfter(status, told);
  expect('www-authenticate' in headers).toBe(status === 401);
  if (!isCrossOrigin) return;
  const exposed = headers['access-control-expose-headers']?.toLowerCase().split(', ') ?? [];
  const carried = Object.keys(headers).filter((name) =>
    /^(x-|ratelimit|retry-after|www-authenticate|etag|link|location|deprecation|sunset)/.test(name),
  );
  expect(carried.filter((name) => !exposed.includes(name))).toEqual([]);
  expect(headers['access-control-allow-origin']).toBe('*');
}

function checkRetryAfter(status: number, { retryAfter }: Told): void {
  if (status !== 429 && status !== 503) expect(retryAfter).toBeUndefined();
  else expect(Number.isInteger(retryAfter) && Number(retryAfter) >= 1).toBe(true);
}

const INTERNAL = /node_modules|\.[jt]s\b|at \S+:\d+|prisma|select |ECONN|10\.0\.0\.5|stack|secret/i;

/** An error has the shape of its door, and nothing of what happened inside. */
function checkBody({ path, graphql, method, status, code }: Row, body: string): void {
  if (status === 204 || status === 304 || method === 'HEAD') {
    expect(body).toBe('');
    return;
  }
  if (!code) return;
  const isGraphQL = graphql !== undefined || path?.split('?')[0] === '/graphql';
  const parsed = JSON.parse(body);
  const problem = isGraphQL ? { message: parsed.errors[0].message, ...parsed.errors[0].extensions } : parsed;
  expect(problem).toMatchObject({ code, message: expect.stringMatching(/\w/) });
  expect(problem.status).toBe(status === 200 ? 500 : status);
  expect(body).not.toMatch(INTERNAL);
}

async function send({ path = '/graphql', method, headers, body, graphql, as }: Row) {
  const response = await fetch(url + (await filled(path)), {
    method: method ?? (graphql === undefined ? 'GET' : 'POST'),
    headers: { ...(graphql !== undefined && JSON_BODY), ...headers, ...(as ? as() : key.headers) },
    body: graphql === undefined ? body : JSON.stringify({ query: graphql }),
  });
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    body: await response.text(),
  };
}

async function filled(path: string): Promise<string> {
  if (!path.includes('{last}')) return path.replace('{first}', categoryId);
  const { createCategory } = await gateway.data(
    'mutation { createCategory(input: { name: "gone" }) { id } }',
  );
  return path.replace('{last}', String(createCategory?.id));
}

async function createPet(): Promise<void> {
  await gateway.data(`mutation { createPet(input: { name: "Rex", categoryId: ${categoryId} }) { id } }`);
}

/** An operation of so many counted root fields. */
function fields(count: number): string {
  return `{ ${Array.from({ length: count }, (_, i) => `f${i}: pet(id: 1) { id }`).join(' ')} }`;
}

function long(): string {
  return JSON.stringify({ name: 'x'.repeat(101 * 1024) });
}
