import type { Socket } from 'node:net';
import { AccessLog } from '../../src/http/access-log';
import { fillShop } from '../helper/database';
import { type Gateway, startGateway } from '../helper/gateway';
import { watchLookUps } from '../helper/look-ups';
import { type Told, toldBy } from '../helper/standing';
import { exchange, parseResponse } from '../helper/wire';
import { ANONYMOUS, type Answer, ask, type Headers, PETS, STREAM } from './client';
import { RESPONSES, type Row } from './responses';

const bug = new Error('relation "pets" does not exist at /srv/petstore/src/database/select.ts:7 (select classified)');
const gone = Object.assign(new Error('connect ECONNREFUSED 10.0.0.5:5432'), { code: 'ECONNREFUSED' });
const INTERNAL = /node_modules|\.[jt]s\b|at [^\s"]+:\d+|prisma|select |ECONN|10\.0\.0\.5|stack|classified/i;

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway({ ANONYMOUS_ACCESS: 'none', BAN_AFTER: '2' });
});
beforeEach(() => fillShop(gateway.database));
afterEach(() => jest.restoreAllMocks());
afterAll(() => gateway.close());

let callers = 0;
/** Creates a caller with an unused quota; `perMinute` applies to keys. */
async function callerAs(as: Row['as'], perMinute: number): Promise<{ headers: Headers; from: string }> {
  const from = `192.0.2.${callers++}`;
  if (as === 'anonymous') return { headers: ANONYMOUS, from };
  if (as === 'wrong key') return { headers: { 'x-api-key': 'x' }, from };
  const scopes = as === 'admin' ? ['ADMIN'] : as === 'reader' ? ['READ'] : ['READ', 'WRITE'];
  return { headers: (await gateway.createKey({ plan: 'ENTERPRISE', perMinute, perDay: 1000, scopes })).headers, from };
}

function failWith(error: Error): void {
  for (const method of ['query', 'write', 'transaction'] as const)
    jest.spyOn(gateway.database, method).mockRejectedValue(error);
}

describe('a request is charged its cost; its response has the common headers and the format of its interface', () => {
  test.each(RESPONSES)('$status for $name', async (row) => {
    const { cost = 1, status, on } = row;
    const caller = await callerAs(row.as, Math.max(cost, 1));
    const send = () => ask(gateway, on, { ...row, ...caller, headers: { ...row.headers, ...caller.headers } });
    if (row.before) {
      // The failure must not affect the look-up of the key.
      await ask(gateway, 'GET /rate_limit', caller);
      failWith(row.before === 'a bug' ? bug : gone);
    }
    const first = await send();
    jest.restoreAllMocks();
    checkResponse(on, first, [status, row.code]);
    const { minute, day } = first.told.windows;
    expect([minute?.r, day?.r]).toEqual([Number(minute?.q) - cost, 1000 - cost]);
    if (row.as === 'anonymous' || row.as === 'wrong key') return;

    if (cost === 0) await ask(gateway, 'GET /nothing', caller);
    const limited = await send();
    checkResponse(on, limited, cost ? [429, 'RATE_LIMITED'] : [status, row.code]);
    if (!row.isExempt) expect(limited.told.windows.day?.r).toBe(1000 - Math.max(cost, 1));
    for (let i = 0; i < 2; i++) await ask(gateway, 'GET /nothing', caller);
    checkResponse(on, await send(), row.isExempt ? [status, row.code] : [429, 'KEY_BANNED']);
  });

  test('requests with a wrong or missing key count against the address, until the address gets 429', async () => {
    const wrong = { headers: { 'x-api-key': 'wrong' }, from: '198.51.100.1' };
    for (let i = 0; i < 30; i++) expect((await ask(gateway, PETS, wrong)).status).toBe(401);
    for (let i = 0; i < 30; i++) expect((await ask(gateway, PETS, { ...wrong, headers: ANONYMOUS })).status).toBe(401);
    checkResponse(PETS, await ask(gateway, PETS, wrong), [429, 'RATE_LIMITED']);
  });
});

describe('responses to requests that the HTTP parser rejects or would answer itself', () => {
  const POST = 'POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';
  const HOST = 'Host: localhost\r\n';
  const OPEN = 'GET /openapi.json HTTP/1';
  const READ = 'GET /pets HTTP/1';
  const BROKEN = `${POST}Transfer-Encoding: chunked\r\n`;
  const END = `${HOST}Connection: close\r\n\r\n`;
  type Raw = [status: number, code: string | undefined, name: string, text: string];
  const bad = (name: string, text: string): Raw => [400, 'BAD_REQUEST', name, text];
  test.each<Raw>([
    [400, 'BAD_REQUEST', 'a request that is not HTTP', 'GARBAGE\r\n\r\n'],
    [400, 'BAD_REQUEST', 'a TLS handshake', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
    [400, 'BAD_REQUEST', 'the method CONNECT', `CONNECT x:443 HTTP/1.1\r\n${END}`],
    [400, 'BAD_REQUEST', 'HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    [400, 'BAD_REQUEST', 'two body lengths', `${BROKEN}Content-Length: 1\r\n\r\n`],
    [400, 'BAD_REQUEST', 'a chunk without a size', `${BROKEN}\r\nzz\r\n`],
    [400, 'BAD_REQUEST', 'a broken chunk after a valid one', `${BROKEN}\r\n1\r\n{\r\nzz\r\n`],
    [400, 'BAD_REQUEST', 'a chunk longer than its size', `${BROKEN}\r\n1\r\n{}\r\n0\r\n\r\n`],
    ...['2, 2', '2\r\nContent-Length: 2', '1e1', '-1', '99999999999999999999'].map((length) =>
      bad(`the body length ${JSON.stringify(length)}`, `${POST}Content-Length: ${length}\r\n\r\n{}`),
    ),
    [400, 'BAD_REQUEST', 'an unknown transfer encoding', `${POST}Transfer-Encoding: gzip\r\n\r\n{}`],
    [413, 'PAYLOAD_TOO_LARGE', 'a body length over 100 KiB', `${POST}Content-Length: 102401\r\n\r\n`],
    [413, 'PAYLOAD_TOO_LARGE', 'a chunk over 100 KiB', `${BROKEN}\r\n19001\r\n${' '.repeat(102_401)}\r\n`],
    ...['a', 'a : 1', 'a: 1\r\n 2', 'a: \0', 'a: 1\nb: 2'].map((header) =>
      bad(`the header ${JSON.stringify(header)}`, `${READ}.1\r\n${header}\r\n${END}`),
    ),
    ...['BREW / HTTP/1.1', 'get / HTTP/1.1', 'GET pets HTTP/1.1', 'GET /?a b HTTP/1.1', 'GET / HTTP/3.0'].map((line) =>
      bad(`the request line ${line}`, `${line}\r\n${END}`),
    ),
    [431, 'HEADERS_TOO_LARGE', 'a head of 20,000 characters', `GET /${'a'.repeat(20_000)} HTTP/1.1\r\n${HOST}\r\n`],
    [400, 'BAD_REQUEST', 'a missing Host header', `${READ}.1\r\n\r\n`],
    [400, 'BAD_REQUEST', 'two Host headers', `${READ}.1\r\nHost: a\r\nhost: a\r\n\r\n`],
    [400, 'BAD_REQUEST', 'two Host headers in HTTP/1.0', `${READ}.0\r\n${HOST}Host: a\r\n\r\n`],
    [200, undefined, 'an unknown Expect header', `${OPEN}.1\r\n${HOST}Expect: miracles\r\n\r\n`],
    [200, undefined, 'HTTP/1.0 without a Host header', `${OPEN}.0\r\n\r\n`],
    [200, undefined, 'an empty Host header', `${OPEN}.1\r\nConnection: close\r\nHost:\r\n\r\n`],
    [200, undefined, 'an absolute URL', `${OPEN.replace('/', 'http://other.example/')}.1\r\n${END}`],
    [200, undefined, 'a GET request with a body', `${OPEN}.1\r\nContent-Length: 2\r\n${END}no`],
    [
      200,
      undefined,
      'a body in chunks with an extension and a trailer',
      `${BROKEN}Connection: close\r\n\r\n18;a=b\r\n{"query":"{__typename}"}\r\n0\r\nA: b\r\n\r\n`,
    ],
  ])('have the common headers: %i %s for %s', async (status, code, _name, text) => {
    const instance = await listening();
    const before = await left(instance);
    const { status: answered, headers, body } = parseResponse(await exchange(instance.server.listeningOrigin, text));
    const { errors, ...problem } = JSON.parse(body);
    const told = errors?.[0]?.extensions ?? problem;
    expect([answered, code && told]).toEqual([status, code && expect.objectContaining({ code, status })]);
    checkHeaders(status, headers, toldBy(headers));
    expect(headers).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-expose-headers': expect.stringContaining('X-RateLimit-Remaining'),
      date: expect.stringMatching(/ GMT$/),
    });
    expect(before - (await left(instance))).toBe(code ? 1 : 0);
  });

  test.each([
    ['GARBAGE\r\n\r\n', /: Invalid method encountered\.$/],
    [`${READ}.1\r\na: \0\r\n${END}`, /: Invalid header value char\.$/],
    [`${READ}.1\r\na : 1\r\n${END}`, /: Invalid header token\.$/],
    [`${BROKEN}\r\nzz\r\n`, /: Invalid character in chunk size\.$/],
    [`GET pets HTTP/1.1\r\n${END}`, /: .*[uU]rl.*\.$/],
  ])('name the fault: %j', async (text, fault) => {
    const { body } = parseResponse(await exchange((await listening()).server.listeningOrigin, text));
    expect(JSON.parse(body).message).toMatch(/^The request is not valid HTTP: /);
    expect(JSON.parse(body).message).toMatch(fault);
  });

  test('allow only the origins in CORS_ORIGINS', async () => {
    const instance = await gateway.another({ CORS_ORIGINS: 'https://shop.example' });
    const url = await instance.listen();
    for (const text of [`${READ}.1\r\n%a: \0\r\n${END}`, `${BROKEN}${HOST}%\r\nzz\r\n`])
      for (const [origin, allowed] of [
        ['https://shop.example', 'https://shop.example'],
        ['https://evil.example', undefined],
      ] as const) {
        const { headers } = parseResponse(await exchange(url, text.replace('%', `Origin: ${origin}\r\n`)));
        expect(headers['access-control-allow-origin']).toBe(allowed);
      }
    await instance.close();
  });

  test('are logged', async () => {
    const instance = await gateway.another({});
    const url = await instance.listen();
    const record = jest.spyOn(AccessLog.prototype, 'record');
    await exchange(url, 'GARBAGE\r\n\r\n');
    const entry = { caller: '127.0.0.1', operation: 'other', status: 400, code: 'BAD_REQUEST' };
    const error = { code: 'BAD_REQUEST', status: 400, interface: 'other' };
    expect(record).toHaveBeenCalledWith(expect.objectContaining(entry), false, error);
    record.mockRestore();
    await instance.close();
  });

  test('charge no caller behind a trusted proxy, since the address is the address of the proxy', async () => {
    const instance = await gateway.another({ TRUST_PROXY: '127.0.0.1' });
    const url = await instance.listen();
    for (let i = 0; i < 3; i++) {
      const { headers } = parseResponse(await exchange(url, 'GARBAGE\r\n\r\n'));
      expect(headers['x-ratelimit-remaining']).toBe('60');
    }
    expect(await left(instance)).toBe(60);
    await instance.close();
  });

  test('are 408 if the request does not arrive in time', async () => {
    const { server } = await listening();
    const connected = new Promise<Socket>((resolve) => server.server.once('connection', resolve));
    const received = exchange(server.listeningOrigin, 'GET /pets HTT');
    const timeout = Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
    server.server.emit('clientError', timeout, await connected);
    const { status, headers, body } = parseResponse(await received);
    expect([status, JSON.parse(body)]).toMatchObject([408, { code: 'REQUEST_TIMEOUT', status: 408 }]);
    checkHeaders(408, headers, toldBy(headers));
  });

  test('are 429 once the address has used up its quota', async () => {
    const instance = await listening();
    for (let i = await left(instance); i > 0; i--) await ask(instance, 'GET /nothing', { headers: ANONYMOUS });
    for (const text of ['GARBAGE\r\n\r\n', `${READ}.1\r\n\r\n`])
      expect(await exchange(instance.server.listeningOrigin, text)).toMatch(/^HTTP\/1\.1 429 .*"code":"RATE_LIMITED"/s);
  });

  const left = async (of: Gateway) => (await ask(of, 'GET /livez', { headers: ANONYMOUS })).told.remaining;

  let instance: Gateway | undefined;
  afterAll(() => instance?.close());
  /** Starts a separate instance on first use. In this instance, the quota of 127.0.0.1 is unused. */
  async function listening(): Promise<Gateway> {
    if (instance) return instance;
    instance = await gateway.another({ ANONYMOUS_ACCESS: 'none' });
    await instance.listen();
    return instance;
  }
});

test('a request whose key cannot be looked up gets 503, and counts against neither the key nor the address', async () => {
  const { headers } = await gateway.createKey();
  const from = '198.51.100.2';
  watchLookUps(gateway.database, () => Promise.reject(gone));
  for (const on of ['GET /pets', '{ viewer { plan } }', 'GET /nothing'])
    checkResponse(on, await ask(gateway, on, { headers, from }), [503, 'SERVICE_UNAVAILABLE']);
  jest.restoreAllMocks();
  expect((await ask(gateway, 'GET /livez', { headers: ANONYMOUS, from })).told.remaining).toBe(60);
  expect((await ask(gateway, 'GET /pets', { headers, from })).told.remaining).toBe(59);
});

test('a GraphQL response with status 200 has Retry-After only for SERVICE_UNAVAILABLE', async () => {
  const query = { body: { query: PETS } };
  const send = () =>
    Promise.all([
      ask(gateway, 'POST /graphql', query),
      ask(gateway, `GET /graphql?${new URLSearchParams(query.body)}`),
      ask(gateway, 'POST /graphql/stream', { ...query, headers: STREAM }),
    ]);
  for (const [error, code, retryAfter] of [
    [undefined, undefined, undefined],
    [gone, 'SERVICE_UNAVAILABLE', 5],
    [bug, 'INTERNAL_SERVER_ERROR', undefined],
  ] as const) {
    if (error) failWith(error);
    for (const { status, told, text } of await send())
      expect([status, told.retryAfter, /"code":"(\w+)"/.exec(text)?.[1]]).toEqual([200, retryAfter, code]);
  }
});

test.each<[id: string, isKept: boolean]>([
  ['my-request.1:2_3', true],
  ['x'.repeat(128), true],
  ['', false],
  ['a b', false],
  ['<b>', false],
  ['x'.repeat(129), false],
])('the X-Request-Id %j of a client is kept: %s', async (id, isKept) => {
  for (const on of ['GET /pets', 'GET /nothing', PETS]) {
    const { headers, error } = await ask(gateway, on, { headers: { 'x-request-id': id } });
    expect(headers['x-request-id']).toEqual(isKept ? id : expect.stringMatching(/^[0-9a-f-]{36}$/));
    if (error) expect(error.requestId).toBe(headers['x-request-id']);
  }
});

test('CORS_ORIGINS lists the origins that a browser may call from', async () => {
  const instance = await gateway.another({ CORS_ORIGINS: 'https://shop.example, http://localhost:3000' });
  const asked = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'x-api-key' };
  for (const [origin, isAllowed] of [
    ['https://shop.example', true],
    ['http://localhost:3000', true],
    ['https://evil.example', false],
    ['https://shop.example.evil.example', false],
    ['null', false],
  ] as const)
    for (const on of ['OPTIONS /graphql', 'GET /pets', 'GET /nothing']) {
      const { headers } = await ask(instance, on, { headers: { origin, ...asked } });
      expect(headers['access-control-allow-origin']).toBe(isAllowed ? origin : undefined);
      expect(headers).not.toHaveProperty('access-control-allow-credentials');
      expect(headers.vary).toContain('Origin');
      if (on.startsWith('OPTIONS') && isAllowed) expect(headers['access-control-allow-headers']).toBe('x-api-key');
    }
  await instance.close();
});

function checkResponse(on: string, answer: Answer, [status, code]: [status: number, code: string | undefined]): void {
  const { headers, text, error } = answer;
  const isHead = on.startsWith('HEAD');
  expect([answer.status, answer.code]).toEqual([status, isHead ? undefined : code]);
  checkHeaders(status, headers, answer.told, !/^(GET|HEAD) /.test(on));
  if (status !== 429 && status !== 503 && code !== 'SERVICE_UNAVAILABLE')
    expect(answer.told.retryAfter).toBeUndefined();
  expect(headers['access-control-allow-origin']).toBe('*');
  const exposed = headers['access-control-expose-headers']?.toLowerCase().split(', ') ?? [];
  const read =
    /^(x-(?!content-type-options|frame-options)|ratelimit|retry-after|www-authenticate|etag|link|location|deprecation|sunset)/;
  expect(Object.keys(headers).filter((name) => read.test(name) && !exposed.includes(name))).toEqual([]);
  if (status === 204 || status === 304 || isHead) expect(text).toBe('');
  if (!error) return;
  expect([error.requestId, error.message]).toEqual([headers['x-request-id'], expect.stringMatching(/\w/)]);
  expect(text).not.toMatch(INTERNAL);
  const help = headers.link?.split(', ').filter((link) => link.endsWith('rel="help"'));
  if (status < 400) return;
  expect([error.status, help]).toEqual([status, [`</docs/errors#${code?.toLowerCase()}>; rel="help"`]]);
}

/** Checks the rate limit headers and the security headers. */
function checkHeaders(status: number, headers: Record<string, string>, told: Told, isChange = false): void {
  expect(Object.keys(told.windows).slice(0, 2)).toEqual(['minute', 'day']);
  const lengths: Record<string, number> = { minute: 60, day: 86_400, uncounted: 60 };
  for (const [name, { q, w, r, t }] of Object.entries(told.windows))
    expect([w, r >= 0 && r <= q, t >= 0 && t <= w]).toEqual([lengths[name], true, true]);
  const inForce = Object.values(told.windows).find(({ q, r }) => q === told.limit && r === told.remaining);
  expect(Math.abs(told.reset - Date.now() / 1000 - (inForce?.t ?? Number.NaN))).toBeLessThan(5);
  expect(headers['x-request-id']).toMatch(/^[\w-]{36}$/);
  if (status === 429 || status === 503) expect(told.retryAfter).toBeGreaterThanOrEqual(1);
  expect('www-authenticate' in headers).toBe(status === 401);

  for (const name of ['x-powered-by', 'server']) expect(headers).not.toHaveProperty(name);
  const isPublic = headers['cache-control']?.startsWith('public') ?? false;
  const varies = isPublic ? [] : ['Accept', 'Authorization', 'Origin', 'X-API-Key'];
  expect(headers.vary?.split(', ') ?? []).toEqual(expect.arrayContaining(varies));
  if (headers['content-type']?.startsWith('text/html')) return;
  expect(headers).toMatchObject({
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'content-security-policy': expect.stringContaining("frame-ancestors 'none'"),
    'referrer-policy': 'no-referrer',
    ...(!isPublic && { 'cache-control': headers.etag && !isChange ? 'private, no-cache' : 'no-store' }),
  });
  const { 'content-length': length = '0' } = headers;
  if (status !== 304) expect('content-type' in headers).toBe(length !== '0');
}
