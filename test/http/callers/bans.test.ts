import { existsSync, readdirSync } from 'node:fs';
import { type Gateway, startGateway, type TestKey } from '../../helper/gateway';
import { toldBy } from '../../helper/standing';
import { until } from '../../helper/until';

const START = 1_800_000_000_000;
const DAY = 86_400_000;
let clock = START;
let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway({ ANONYMOUS_ACCESS: 'write' }, () => clock);
});
afterAll(() => gateway.close());

type Headers = Record<string, string | undefined>;
const ANONYMOUS: Headers = { 'x-api-key': undefined };
const PREFLIGHT = { origin: 'https://shop.example', 'access-control-request-method': 'POST' };

async function ask(headers: Headers, remoteAddress?: string) {
  const answer = await gateway.graphql('{ pets { totalCount } }', undefined, headers, remoteAddress);
  return {
    status: answer.status,
    code: answer.errors[0]?.extensions?.code,
    message: answer.errors[0]?.message,
    ...toldBy(answer.headers),
  };
}

async function askTimes(times: number, headers: Headers, remoteAddress?: string): Promise<string> {
  let code: unknown;
  for (let i = 0; i < times; i++) ({ code } = await ask(headers, remoteAddress));
  return String(code);
}

/** Bans a caller with this quota per minute: uses it up, and sends 20 requests more. */
async function ban(headers: Headers, perMinute = 60, remoteAddress?: string): Promise<void> {
  expect(await askTimes(perMinute, headers, remoteAddress)).toBe('undefined');
  expect(await askTimes(20, headers, remoteAddress)).toBe('RATE_LIMITED');
}

const lift = async (caller: string) =>
  (await gateway.graphql(`mutation ($caller: String!) { liftBan(caller: $caller) }`, { caller })) as {
    data: { liftBan: unknown } | null;
    errors: readonly { extensions?: Record<string, unknown> }[];
  };

describe('a caller that continues after 20 refusals within a window', () => {
  let key: TestKey;
  let last: Awaited<ReturnType<typeof ask>>;
  beforeEach(async () => {
    key = await gateway.createKey({ plan: 'ENTERPRISE', perMinute: 2, perDay: 1000 });
    expect(await askTimes(2, key.headers)).toBe('undefined');
    expect(await askTimes(19, key.headers)).toBe('RATE_LIMITED');
    clock += 30_000;
    last = await ask(key.headers);
  });

  test('is told by the last one that it is banned for 60 seconds', () => {
    expect(last).toMatchObject({ code: 'RATE_LIMITED', retryAfter: 60 });
  });

  test.each<
    [
      string,
      {
        method?: 'PUT' | 'POST';
        url: string;
        headers?: Record<string, string>;
        payload?: string;
      },
    ]
  >([
    [
      'a counted query',
      {
        method: 'POST',
        url: '/graphql',
        headers: { 'content-type': 'application/json' },
        payload: '{"query":"{pets{totalCount}}"}',
      },
    ],
    [
      'its own status',
      {
        method: 'POST',
        url: '/graphql',
        headers: { 'content-type': 'application/json' },
        payload: '{"query":"{rateLimit{bannedUntil} viewer{plan}}"}',
      },
    ],
    ['its own status by GET', { url: '/rate_limit' }],
    ['its own usage', { url: '/usage' }],
    [
      'introspection',
      {
        method: 'POST',
        url: '/graphql',
        headers: { 'content-type': 'application/json' },
        payload: '{"query":"{__typename}"}',
      },
    ],
    [
      'a document that does not parse',
      { method: 'POST', url: '/graphql', headers: { 'content-type': 'application/json' }, payload: '{' },
    ],
    ['REST', { url: '/pets' }],
    ['an unknown path', { url: '/nothing' }],
    ['a method that is not allowed', { method: 'PUT', url: '/pets' }],
    ['an unknown protocol', { url: '/pets', headers: { upgrade: 'x' } }],
  ])('then gets KEY_BANNED for any request: %s', async (_name, request) => {
    const response = await gateway.app.inject({
      ...request,
      headers: { ...request.headers, ...key.headers },
    });
    const body = response.json();
    const problem = body.errors?.[0].extensions ?? body;
    expect(problem).toMatchObject({ code: 'KEY_BANNED', status: 429, requestId: expect.any(String) });
    expect(response.statusCode).toBe(429);
    const until = new Date(clock + 60_000).toISOString();
    expect(body.message ?? body.errors[0].message).toBe(
      `Banned until ${until} after too many rejected requests. Try again in 60 seconds.`,
    );
    expect(toldBy(response.headers)).toMatchObject({ limit: 2, remaining: 0, retryAfter: 60 });
  });

  test.each<[string, { method?: 'OPTIONS'; url: string; headers?: Record<string, string> }]>([
    ['the documentation', { url: '/docs/rest' }],
    ['the OpenAPI document', { url: '/openapi.json' }],
    ['Sandbox', { url: '/graphql', headers: { accept: 'text/html' } }],
    ['a preflight', { method: 'OPTIONS', url: '/pets', headers: PREFLIGHT }],
    ['the health of the process', { url: '/livez' }],
  ])('still gets %s', async (_name, request) => {
    const response = await gateway.app.inject({ ...request, headers: { ...request.headers, ...key.headers } });
    expect(response.statusCode).toBe(request.method ? 204 : 200);
    expect(response.headers).not.toHaveProperty('retry-after');
  });

  test('gets pages within the ceiling of free requests; beyond it no file stays open, and nothing is told of the file', async () => {
    const openFiles = () => (existsSync('/proc/self/fd') ? readdirSync('/proc/self/fd').length : 0);
    const page = () => gateway.app.inject({ url: '/docs/graphql', headers: key.headers });
    const before = openFiles();
    const responses = await Promise.all(Array.from({ length: 50 }, page));
    await until(async () => openFiles() - before < 10);
    const rejected = responses.filter(({ statusCode }) => statusCode === 429);
    expect(rejected).toHaveLength(30);
    for (const { headers } of rejected) {
      for (const name of ['etag', 'last-modified']) expect(headers).not.toHaveProperty(name);
      expect(headers['cache-control']).toBe('no-store');
    }
    clock += 60_000;
    expect((await page()).statusCode).toBe(200);
  });

  test('metrics are answered, and not to be asked for later', async () => {
    const admin = await gateway.createKey({ plan: 'ENTERPRISE', perMinute: 2, perDay: 1000, scopes: ['ADMIN'] });
    await ban(admin.headers, 2);
    const response = await gateway.app.inject({ url: '/metrics', headers: admin.headers });
    expect([response.statusCode, toldBy(response.headers).remaining]).toEqual([200, 0]);
    expect(response.headers).not.toHaveProperty('retry-after');
  });

  test('is not banned longer for further requests, and passes when the ban is over', async () => {
    clock += 59_999;
    expect(await askTimes(50, key.headers)).toBe('KEY_BANNED');
    expect(await ask(key.headers)).toMatchObject({ retryAfter: 1 });
    clock += 1;
    expect(await ask(key.headers)).toMatchObject({ status: 200, remaining: 1 });
  });
});

test('each further ban within a day lasts twice as long, up to an hour; after a day without one it is 60 seconds again', async () => {
  const { headers } = await gateway.createKey({ plan: 'ENTERPRISE', perMinute: 1, perDay: 1000 });
  const lengths: unknown[] = [];
  for (let i = 0; i < 8; i++) {
    await ban(headers, 1);
    const { code, retryAfter } = await ask(headers);
    lengths.push([code, retryAfter]);
    clock += Number(retryAfter) * 1000;
  }
  expect(lengths).toEqual([60, 120, 240, 480, 960, 1920, 3600, 3600].map((seconds) => ['KEY_BANNED', seconds]));
  clock += DAY;
  await ban(headers, 1);
  expect(await ask(headers)).toMatchObject({ code: 'KEY_BANNED', retryAfter: 60 });
});

test('Retry-After of a banned caller covers a window that is still used up', async () => {
  const { headers } = await gateway.createKey({ plan: 'ENTERPRISE', perMinute: 10, perDay: 1 });
  await ban(headers, 1);
  const { code, retryAfter } = await ask(headers);
  expect([code, retryAfter]).toEqual(['KEY_BANNED', 86_400]);
  clock += 86_400_000;
  expect(await ask(headers)).toMatchObject({ status: 200 });
});

test('refusals in different windows do not add up', async () => {
  const { headers } = await gateway.createKey({ plan: 'ENTERPRISE', perMinute: 1, perDay: 1000 });
  for (let i = 0; i < 5; i++) {
    expect(await askTimes(20, headers)).toBe('RATE_LIMITED');
    clock += 60_000;
  }
  expect(await ask(headers)).toMatchObject({ status: 200 });
});

describe('a ban of', () => {
  test('a key does not apply to its address or to other keys', async () => {
    const [banned, other] = [await gateway.createKey(), await gateway.createKey()];
    const address = '192.0.2.9';
    await ban(banned.headers, 60, address);
    expect(await ask(banned.headers, address)).toMatchObject({ code: 'KEY_BANNED' });
    expect(await ask(other.headers, address)).toMatchObject({ status: 200 });
    expect(await ask(ANONYMOUS, address)).toMatchObject({ status: 200 });
  });

  test('an address does not apply to the keys used there', async () => {
    const { headers } = await gateway.createKey();
    const address = '192.0.2.10';
    await ban(ANONYMOUS, 60, address);
    expect(await ask(ANONYMOUS, address)).toMatchObject({ code: 'KEY_BANNED' });
    expect(await ask(headers, address)).toMatchObject({ status: 200 });
    expect(await ask(ANONYMOUS, '192.0.2.11')).toMatchObject({ status: 200 });
  });

  test('an address does not apply to probes from there, whatever their query says', async () => {
    const remoteAddress = '192.0.2.12';
    await ban(ANONYMOUS, 60, remoteAddress);
    expect(await ask(ANONYMOUS, remoteAddress)).toMatchObject({ code: 'KEY_BANNED' });
    for (const url of ['/livez', '/livez?query=x'])
      expect((await gateway.app.inject({ url, remoteAddress, headers: ANONYMOUS })).statusCode).toBe(200);
  });
});

describe('an admin', () => {
  test('sees until when a key is banned', async () => {
    const key = await gateway.createKey();
    expect(await bannedUntil(key.id)).toBeNull();
    await ban(key.headers);
    expect(await bannedUntil(key.id)).toBe(new Date(clock + 60_000).toISOString());
    clock += 60_000;
    expect(await bannedUntil(key.id)).toBeNull();
  });

  test('lifts the ban of a key; its used quota stays used', async () => {
    const key = await gateway.createKey();
    await ban(key.headers);
    expect(await lift(key.id)).toMatchObject({ data: { liftBan: true } });
    expect(await bannedUntil(key.id)).toBeNull();
    expect((await gateway.graphql('{ viewer { plan } }', undefined, key.headers)).status).toBe(200);
    expect(await ask(key.headers)).toMatchObject({ code: 'RATE_LIMITED', remaining: 0 });
    expect(await lift(key.id)).toMatchObject({ data: { liftBan: false } });
  });

  test.each([
    ['192.0.2.20', '192.0.2.20'],
    ['192.0.2.21', '::ffff:192.0.2.21'],
    ['2001:db8:0:1::5', '2001:db8:0:1:ffff::'],
    ['2001:db8:0:2::5', '2001:db8:0:2::'],
  ])('lifts the ban of %s as %s', async (address, caller) => {
    await ban(ANONYMOUS, 60, address);
    expect(await ask(ANONYMOUS, address)).toMatchObject({ code: 'KEY_BANNED' });
    expect(await lift(caller)).toMatchObject({ data: { liftBan: true } });
    expect(await ask(ANONYMOUS, address)).toMatchObject({ code: 'RATE_LIMITED' });
  });

  test.each(['', 'nobody', 'localhost', '192.0.2.0/24', '300.1.1.1', 'abcdefghijk', 'unknown'])(
    'is told that %j is not a caller',
    async (caller) => {
      expect((await lift(caller)).errors[0]?.extensions).toMatchObject({
        code: 'BAD_USER_INPUT',
        details: [{ path: 'caller', message: 'must be a key id or an IP address' }],
      });
    },
  );

  test('is told that an unknown caller is not banned', async () => {
    expect(await lift('zzzzzzzzzzzz')).toMatchObject({ data: { liftBan: false } });
    expect(await lift('203.0.113.200')).toMatchObject({ data: { liftBan: false } });
  });
});

test('the thresholds are configurable', async () => {
  const { id, headers } = await gateway.createKey({ plan: 'ENTERPRISE', perMinute: 1, perDay: 1000 });
  const environment = { BAN_AFTER: '2', BAN_SECONDS: '5', BAN_MAX_SECONDS: '8' };
  const strict = await gateway.another(environment, () => clock);
  for (const seconds of [5, 8, 8]) {
    const statuses: number[] = [];
    for (let i = 0; i < 3; i++) statuses.push((await strict.server.inject({ url: '/pets', headers })).statusCode);
    expect(statuses).toEqual([200, 429, 429]);
    expect(await bannedUntil(id, strict)).toBe(new Date(clock + seconds * 1000).toISOString());
    clock += 60_000;
  }
  await strict.close();
});

/** When the ban of a key ends, as an admin sees it. */
async function bannedUntil(id: string, instance = gateway): Promise<string | null | undefined> {
  const { apiKeys } = await instance.data<{
    apiKeys: { nodes: { id: string; bannedUntil: string | null }[] };
  }>('{ apiKeys(first: 100) { nodes { id bannedUntil } } }');
  return apiKeys.nodes.find((key) => key.id === id)?.bannedUntil;
}
