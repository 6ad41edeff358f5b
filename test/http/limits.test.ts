import { existsSync, readdirSync } from 'node:fs';
import { RequestsInProgress } from '../../src/http/requests-in-progress';
import { type Gateway, startGateway, type TestKey } from '../helper/gateway';
import { watchLookUps } from '../helper/look-ups';
import { until } from '../helper/until';
import { exchange } from '../helper/wire';
import { REDIS_URLS } from '../rate-limit/limiters';
import { ANONYMOUS, type Answer, ask, fields, type Headers, PETS, READS } from './client';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const DAY = 86_400 * SECOND;

let clock = 1_800_000_000_900;
let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway({ ANONYMOUS_ACCESS: 'write' }, () => clock);
});
afterEach(() => jest.restoreAllMocks());
afterAll(() => gateway.close());

const keyWith = (perMinute: number, perDay = 1000) => gateway.createKey({ plan: 'ENTERPRISE', perMinute, perDay });
const liftBan = (caller: string) => ask(gateway, `mutation { liftBan(caller: "${caller}") }`);

/** Sends a request several times. @returns the last response. */
async function repeat(times: number, on: string, headers: Headers, from?: string): Promise<Answer> {
  for (let i = 1; i < times; i++) await ask(gateway, on, { headers, from });
  return ask(gateway, on, { headers, from });
}

/** The relevant parts of a response. `ends` is the reset time in the headers, in seconds after `start`. */
function summary({ status, code, told }: Answer, start: number) {
  const { limit, remaining, retryAfter, windows, reset } = told;
  const ends = reset - Math.ceil(start / SECOND);
  return { status, code, limit, remaining, retryAfter, minute: windows.minute?.r, day: windows.day?.r, ends };
}

type Expected = Partial<ReturnType<typeof summary>>;
/** Either milliseconds to wait, or a number of requests to send and the expected last response. */
type Step = number | readonly [times: number, expected: Expected];

const OK = { status: 200, code: undefined };
const LIMITED = { status: 429, code: 'RATE_LIMITED' };
const BANNED = { status: 429, code: 'KEY_BANNED' };

const SCENARIOS: [name: string, quota: [perMinute: number, perDay: number], steps: Step[]][] = [
  [
    'a window starts with the first request and lasts a minute; Reset and Retry-After are rounded up to whole seconds',
    [3, 1000],
    [
      [1, { ...OK, limit: 3, remaining: 2, day: 999, ends: 60 }],
      12_345,
      [2, { ...OK, remaining: 0 }],
      [1, { ...LIMITED, remaining: 0, ends: 60, retryAfter: 48 }],
      47_654,
      [1, { ...LIMITED, retryAfter: 1 }],
      1,
      [1, { ...OK, remaining: 2, ends: 120 }],
    ],
  ],
  [
    'a request counts in the minute and the day window; a request rejected by either window counts in neither',
    [2, 5],
    [
      [1, { ...OK, limit: 2, remaining: 1, day: 4 }],
      [1, { ...OK, limit: 2, remaining: 0, day: 3 }],
      [1, { ...LIMITED, limit: 2, remaining: 0, day: 3, retryAfter: 60 }],
      MINUTE,
      [2, { ...OK, limit: 2, remaining: 0, day: 1 }],
      MINUTE,
      [1, { ...OK, limit: 5, remaining: 0, minute: 1 }],
      [1, { ...LIMITED, limit: 5, remaining: 0, minute: 1, retryAfter: 86_280, ends: 86_400 }],
      DAY - 2 * MINUTE,
      [1, { ...OK, limit: 2, remaining: 1 }],
    ],
  ],
  [
    'a ban starts with the 20th rejection in a window and ends after 60 s; requests during the ban do not extend it',
    [2, 1000],
    [
      [2, OK],
      [19, { ...LIMITED, retryAfter: 60 }],
      30 * SECOND,
      [1, { ...LIMITED, retryAfter: 60 }],
      [1, { ...BANNED, limit: 2, remaining: 0, retryAfter: 60 }],
      59_999,
      [50, { ...BANNED, retryAfter: 1 }],
      1,
      [1, { ...OK, remaining: 1 }],
    ],
  ],
  [
    'each further ban within a day lasts twice as long, up to an hour; after a day without a ban, a ban lasts 60 s',
    [1, 1000],
    [60, 120, 240, 480, 960, 1920, 3600, 3600, 60].flatMap((seconds, i): Step[] => [
      i === 8 ? DAY : 0,
      [1, OK],
      [20, LIMITED],
      [1, { ...BANNED, retryAfter: seconds }],
      seconds * SECOND,
    ]),
  ],
  [
    'if the window of the used-up quota ends later than the ban, Retry-After lasts until the window ends',
    [10, 1],
    [[1, OK], [20, LIMITED], [1, { ...BANNED, retryAfter: 86_400 }], DAY, [1, OK]],
  ],
  [
    '19 rejections in each of five windows cause no ban',
    [1, 1000],
    [...Array.from({ length: 5 }, (): Step[] => [[1, OK], [19, LIMITED], MINUTE]).flat(), [1, OK]],
  ],
];

describe.each(READS)('on %s', (_interface, on) => {
  test.each(SCENARIOS)('%s', async (_name, quota, steps) => {
    const { headers } = await keyWith(...quota);
    const start = clock;
    for (const step of steps) {
      if (typeof step === 'number') clock += step;
      else expect(summary(await repeat(step[0], on, headers), start)).toMatchObject(step[1]);
    }
  });

  test.each([
    ['without a key', undefined, 60, 1000],
    ['on the plan FREE', { plan: 'FREE' }, 60, 1000],
    ['on the plan PRO', { plan: 'PRO' }, 300, 10_000],
    ['on the plan BUSINESS', { plan: 'BUSINESS' }, 1000, 100_000],
    ['on the plan ENTERPRISE', { plan: 'ENTERPRISE', perMinute: 7, perDay: 8 }, 7, 8],
  ])('the rate limit headers show the quota of a caller %s', async (_who, key, perMinute, perDay) => {
    const headers = key ? (await gateway.createKey(key)).headers : ANONYMOUS;
    const { told } = await ask(gateway, on, { headers, from: on === PETS ? '192.0.2.1' : '192.0.2.2' });
    const windows = { minute: { q: perMinute, w: 60, r: perMinute - 1 }, day: { q: perDay, w: 86_400, r: perDay - 1 } };
    expect(told).toMatchObject({ limit: perMinute, remaining: perMinute - 1, windows });
  });

  test('the error of a request during a ban says when the ban ends and how long to wait', async () => {
    const { id, headers } = await keyWith(1);
    await repeat(21, on, headers);
    const bannedUntil = new Date(clock + MINUTE).toISOString();
    const message = `Banned until ${bannedUntil} after too many rejected requests. Try again in 60 seconds.`;
    expect((await ask(gateway, on, { headers })).error).toMatchObject({ code: 'KEY_BANNED', status: 429, message });
    expect(await bannedUntilOf(id)).toBe(bannedUntil);
    clock += MINUTE;
    expect(await bannedUntilOf(id)).toBeNull();
  });

  test('a banned key does not affect other callers; a banned address does not affect keys used from it', async () => {
    const [banned, other, from] = [await gateway.createKey(), await gateway.createKey(), `${on.length}.0.0.1`];
    const statuses = async () => [
      (await ask(gateway, on, { headers: banned.headers, from })).status,
      (await ask(gateway, on, { headers: ANONYMOUS, from })).status,
      (await ask(gateway, on, { headers: other.headers, from })).status,
      (await ask(gateway, on, { headers: ANONYMOUS, from: `${from}1` })).status,
    ];
    await repeat(81, on, banned.headers, from);
    expect(await statuses()).toEqual([429, 200, 200, 200]);
    clock += DAY;
    await repeat(81, on, ANONYMOUS, from);
    expect(await statuses()).toEqual([200, 429, 200, 200]);
  });

  test('a lifted ban ends at once, but the used quota is not restored', async () => {
    const { id, headers } = await keyWith(1);
    await repeat(22, on, headers);
    expect((await liftBan(id)).json.data).toEqual({ liftBan: true });
    expect(await bannedUntilOf(id)).toBeNull();
    expect((await ask(gateway, '{ viewer { plan } }', { headers })).status).toBe(200);
    expect(await ask(gateway, on, { headers })).toMatchObject({ ...LIMITED, told: { remaining: 0 } });
    expect((await liftBan(id)).json.data).toEqual({ liftBan: false });
  });

  test('a plan change applies to the next request; earlier requests still count against the new quota', async () => {
    const { id, headers } = await gateway.createKey();
    const change = (plan: string) =>
      gateway.data(`mutation { updateApiKey(id: "${id}", input: { plan: ${plan} }) { id } }`);
    await repeat(60, on, headers);
    expect(await ask(gateway, on, { headers })).toMatchObject(LIMITED);
    await change('PRO');
    expect(await ask(gateway, on, { headers })).toMatchObject({ ...OK, told: { limit: 300, remaining: 239 } });
    await change('FREE');
    expect(await ask(gateway, on, { headers })).toMatchObject({ ...LIMITED, told: { limit: 60, remaining: 0 } });
  });
});

/** The time at which the ban of a key ends, as reported by the query `apiKeys`. */
async function bannedUntilOf(id: string, instance = gateway): Promise<unknown> {
  const { apiKeys } = await instance.data('{ apiKeys(first: 100) { nodes { id bannedUntil } } }');
  return apiKeys?.nodes?.map((key) => key).find((key) => String(key.id) === id)?.bannedUntil;
}

describe('the cost of an operation is the number of its counted root fields', () => {
  const two = 'fragment two on Query { pets { totalCount } orders { totalCount } }';
  const rows: [number, string, object?][] = [
    [1, PETS],
    [1, 'query named { pets { totalCount } }'],
    [2, '{ a: pets { totalCount } b: pets { totalCount } }'],
    [2, '{ pets { totalCount } orders { totalCount } }'],
    [1, '{ pets { totalCount } pets { nodes { id } } }'],
    [1, '{ pets { nodes { category { pets { nodes { inventory { quantity } } } } } } }'],
    [2, `{ ...two } ${two}`],
    [2, `{ ...two ...two pets { totalCount } } ${two}`],
    [3, `{ ... { ... on Query { a: pets { totalCount } } } ...two } ${two}`],
    [1, '{ pets { totalCount } __typename viewer { plan } rateLimit { cost } }'],
    [0, '{ __typename }'],
    [0, '{ viewer { plan rateLimit { cost } } rateLimit { cost } __schema { queryType { name } } }'],
    [1, '{ pets { totalCount } orders @skip(if: true) { totalCount } }'],
    [1, '{ pets { totalCount } orders @include(if: false) { totalCount } }'],
    [0, '{ pets @skip(if: true) { totalCount } }'],
    [2, 'query ($no: Boolean!) { pets { totalCount } orders @skip(if: $no) { totalCount } }', { no: false }],
    [1, 'query ($no: Boolean!) { pets { totalCount } orders @skip(if: $no) { totalCount } }', { no: true }],
    [2, `query ($yes: Boolean = true) { ...two @include(if: $yes) } ${two}`],
    [0, `query ($yes: Boolean = true) { ...two @include(if: $yes) } ${two}`, { yes: false }],
    [
      1,
      `query ($on: Boolean!) { pets @include(if: $on) { totalCount } ... @skip(if: $on) { ...two } } ${two}`,
      { on: true },
    ],
    [2, 'mutation { a: deletePet(id: 1) { id } b: deletePet(id: 2) { id } }'],
    [60, fields(60)],
  ];
  test.each(rows.map(([cost, query, variables = {}]) => [cost, query, variables] as const))(
    'the cost is %i for %s with the variables %j, whether or not the document is cached',
    async (cost, query, variables) => {
      const { headers } = await keyWith(120);
      for (const times of [1, 2]) {
        const { json, told } = await ask(gateway, query, { variables, headers });
        const remaining = { minute: 120 - times * cost, day: 1000 - times * cost };
        expect(json.extensions?.cost).toMatchObject({ operation: cost, remaining });
        expect([told.windows.minute?.r, told.windows.day?.r]).toEqual(Object.values(remaining));
      }
    },
  );

  test('only the selected operation of a document is charged', async () => {
    const body = { query: `query a ${PETS} query b ${fields(50)}`, operationName: 'a' };
    expect((await ask(gateway, 'POST /graphql', { body })).json.extensions?.cost?.operation).toBe(1);
  });

  test('the field rateLimit reports the cost and the remaining quota', async () => {
    const { headers } = await gateway.createKey();
    const rateLimit = '{ plan cost bannedUntil windows { name limit remaining resetAt } }';
    const query = `{ rateLimit ${rateLimit} a: pet(id: 1) { id } b: pet(id: 1) { id } }`;
    expect((await ask(gateway, query, { headers })).json.data?.rateLimit).toEqual({
      plan: 'FREE',
      cost: 2,
      bannedUntil: null,
      windows: [
        { name: 'minute', limit: 60, remaining: 58, resetAt: new Date(clock + MINUTE).toISOString() },
        { name: 'day', limit: 1000, remaining: 998, resetAt: new Date(clock + DAY).toISOString() },
      ],
    });
  });
});

test('an operation over the rate limit runs no field and uses no quota; a retry after Retry-After succeeds', async () => {
  const { headers } = await keyWith(3);
  const create = (name: string) => `${name}: createCategory(input: { name: "${name}" }) { id }`;
  const mutation = `mutation { ${create('one')} ${create('two')} ${create('three')} }`;
  const names = async () => (await ask(gateway, 'GET /categories')).json.map(({ name }) => name);
  await ask(gateway, PETS, { headers });
  clock += 5001;
  for (let times = 0; times < 2; times++) {
    const { status, json, told } = await ask(gateway, mutation, { headers });
    const message = 'This plan allows 3 requests per minute. Try again in 55 seconds.';
    const extensions = { code: 'RATE_LIMITED', status: 429, retryAfter: 55, requestId: expect.any(String) };
    expect([status, json]).toEqual([429, { errors: [{ message, extensions }] }]);
    expect(told).toMatchObject({ remaining: 2, retryAfter: 55, windows: { day: { r: 999 } } });
  }
  expect(await names()).toEqual([]);
  clock += 55 * SECOND;
  expect((await ask(gateway, mutation, { headers })).status).toBe(200);
  expect(await names()).toEqual(['one', 'two', 'three']);
});

test('an operation that costs more than the quota of a minute or day is rejected as too complex and charged as one request', async () => {
  for (const [perMinute, perDay] of [
    [5, 100],
    [100, 5],
  ] as const) {
    const { headers } = await keyWith(perMinute, perDay);
    const { told, ...answer } = await ask(gateway, fields(6), { headers });
    expect(answer).toMatchObject({ status: 400, code: 'OPERATION_TOO_COMPLEX' });
    expect([told.windows.minute?.r, told.windows.day?.r]).toEqual([perMinute - 1, perDay - 1]);
  }
});

test('requests that do not count towards the quota are limited to ten times the quota per minute', async () => {
  const { headers } = await keyWith(6);
  const free = [
    '{ __typename }',
    '{ viewer { plan } }',
    'GET /rate_limit',
    'GET /openapi.json',
    'GET /docs/rest',
    'GET /',
  ];
  for (let i = 0; i < 60; i++) expect((await ask(gateway, free[i % 6] ?? '', { headers })).status).toBe(200);
  const windows = { minute: { r: 6 }, day: { r: 1000 }, uncounted: { q: 60, w: 60, r: 0 } };
  for (const on of free)
    expect(await ask(gateway, on, { headers })).toMatchObject({
      status: 429,
      told: { limit: 60, remaining: 0, windows },
    });
  expect((await ask(gateway, PETS, { headers })).status).toBe(200);
  clock += MINUTE;
  for (const on of free) expect((await ask(gateway, on, { headers })).status).toBe(200);
});

test('a banned caller can load web pages up to the limit of free requests; rejected requests leave no file open', async () => {
  const { headers } = await keyWith(2);
  await repeat(23, PETS, headers);
  const openFiles = () => (existsSync('/proc/self/fd') ? readdirSync('/proc/self/fd').length : 0);
  const before = openFiles();
  const page = () => ask(gateway, 'GET /docs/errors', { headers });
  const answers = await Promise.all(Array.from({ length: 50 }, page));
  await until(async () => openFiles() - before < 10);
  const rejected = answers.filter(({ status }) => status === 429);
  expect(rejected).toHaveLength(30);
  for (const { headers: received } of rejected) {
    for (const name of ['etag', 'last-modified']) expect(received).not.toHaveProperty(name);
    expect(received['cache-control']).toBe('no-store');
  }
});

describe('liftBan', () => {
  test.each([
    ['192.0.2.20', '192.0.2.20'],
    ['192.0.2.21', '::ffff:192.0.2.21'],
    ['2001:db8:0:1::5', '2001:db8:0:1:ffff::'],
    ['2001:db8:0:2::5', '2001:db8:0:2::'],
    ['not an address', 'unknown'],
  ])('lifts the ban of the address %s when called with %s', async (from, caller) => {
    expect((await repeat(81, PETS, ANONYMOUS, from)).code).toBe('KEY_BANNED');
    expect((await liftBan(caller)).json.data).toEqual({ liftBan: true });
    expect((await ask(gateway, PETS, { headers: ANONYMOUS, from })).code).toBe('RATE_LIMITED');
  });

  test.each(['', 'nobody', 'localhost', '192.0.2.0/24', '300.1.1.1', 'abcdefghijk', 'Unknown'])(
    'rejects %j, which is neither a key id nor an IP address',
    async (caller) => {
      const details = [{ path: 'caller', message: "must be a key id, an IP address or a user's id" }];
      expect((await liftBan(caller)).error).toMatchObject({ code: 'BAD_USER_INPUT', details });
    },
  );

  test.each(['zzzzzzzzzzzz', '203.0.113.200'])('returns false for %s, which is not banned', async (caller) => {
    expect((await liftBan(caller)).json.data).toEqual({ liftBan: false });
  });
});

test('BAN_AFTER sets the number of rejections before a ban; BAN_SECONDS and BAN_MAX_SECONDS set its duration', async () => {
  const { id, headers } = await keyWith(1);
  const strict = await gateway.another({ BAN_AFTER: '2', BAN_SECONDS: '5', BAN_MAX_SECONDS: '8' }, () => clock);
  for (const seconds of [5, 8, 8]) {
    for (const status of [200, 429, 429]) expect((await ask(strict, 'GET /pets', { headers })).status).toBe(status);
    expect(await bannedUntilOf(id, strict)).toBe(new Date(clock + seconds * SECOND).toISOString());
    clock += MINUTE;
  }
  await strict.close();
});

describe('a request with a key, sent from a banned address,', () => {
  const from = '192.0.2.9';
  let key: TestKey;
  beforeAll(async () => {
    key = await gateway.createKey();
    expect((await repeat(81, PETS, ANONYMOUS, from)).code).toBe('KEY_BANNED');
  });

  test.each(['/pets', '/openapi.json', '/docs/rest', '/livez', '/nothing'])(
    'is not affected by the ban: GET %s',
    async (url) => {
      const { status, told } = await ask(gateway, `GET ${url}`, { headers: key.headers, from });
      expect([status, told.retryAfter]).toEqual([url === '/nothing' ? 404 : 200, undefined]);
    },
  );

  test('gets 503, not 429, while keys cannot be looked up', async () => {
    const { headers } = await gateway.createKey();
    const down = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    watchLookUps(gateway.database, () => Promise.reject(down));
    // The limit on look-ups per second does not apply yet.
    jest.spyOn(performance, 'now').mockReturnValue(performance.now() + 1_000);
    const send = (on: string, as: Headers) => ask(gateway, on, { headers: as, from });
    expect(await send('GET /pets', headers)).toMatchObject({ status: 503, told: { remaining: 60, retryAfter: 5 } });
    expect((await send('GET /openapi.json', headers)).status).toBe(200);
    expect((await send('GET /pets', ANONYMOUS)).status).toBe(429);
  });

  test('gets 503, not 429, during overload, when no key is looked up', async () => {
    const busy = await gateway.another({ BAN_AFTER: '2' });
    await Promise.all(Array.from({ length: 63 }, () => ask(busy, 'GET /pets', { headers: ANONYMOUS, from })));
    jest.spyOn(RequestsInProgress.prototype, 'isOverloaded', 'get').mockReturnValue(true);
    const answer = await ask(busy, 'GET /pets', { headers: key.headers, from });
    expect([answer.status, answer.told.retryAfter]).toEqual([503, 5]);
    await busy.close();
  });
});

describe('a request with a malformed body', () => {
  const send = async ({ whole, headers }: TestKey) => {
    const url = gateway.server.listeningOrigin ?? (await gateway.listen());
    await ask(gateway, 'GET /rate_limit', { headers });
    const head = `Host: x\r\nContent-Type: application/json\r\nX-API-Key: ${whole}\r\nTransfer-Encoding: chunked`;
    const received = await exchange(url, `POST /pets HTTP/1.1\r\n${head}\r\n\r\nzz\r\n`, true);
    const { told } = await ask(gateway, 'GET /rate_limit', { headers });
    return [received.match(/^HTTP\/1\.1 \d+/gm), told.remaining];
  };
  beforeAll(() => gateway.listen());

  test('counts against the quota of its key', async () => {
    expect(await send(await gateway.createKey())).toEqual([['HTTP/1.1 400'], 59]);
  });

  test('gets no second response if it has already been rejected for a missing scope', async () => {
    expect(await send(await gateway.createKey({ scopes: ['READ'] }))).toEqual([['HTTP/1.1 403'], 59]);
  });
});

/** Groups of instances that share their request counts and their database. */
const SETUPS: { name: string; open: () => Promise<Gateway[]> }[] = [
  { name: 'one instance', open: async () => [gateway] },
  ...REDIS_URLS.map((REDIS_URL) => ({
    name: 'two instances that share Redis',
    open: () => Promise.all([gateway.another({ REDIS_URL }), gateway.another({ REDIS_URL })]),
  })),
];

describe.each(SETUPS)('200 simultaneous requests of a new caller to $name', ({ open }) => {
  let instances: Gateway[];
  beforeAll(async () => {
    instances = await open();
  });
  afterAll(() => Promise.all(instances.filter((each) => each !== gateway).map((each) => each.close())));

  test('include 60 that succeed, each with a different remaining quota; then the caller is banned', async () => {
    const { id, headers } = await gateway.createKey();
    const send = (i: number, on: string) => ask(instances[i % instances.length] as Gateway, on, { headers });
    const answers = await Promise.all(Array.from({ length: 200 }, (_, i) => send(i, i % 3 ? 'GET /pets' : PETS)));
    const withCode = (wanted?: string) => answers.filter(({ code }) => code === wanted);
    const counts = [undefined, 'RATE_LIMITED', 'KEY_BANNED'].map((code) => withCode(code).length);
    expect(counts).toEqual([60, 20, 120]);
    const remaining = withCode().map(({ told }) => told.remaining);
    expect(remaining.sort((a, b) => a - b)).toEqual(Array.from({ length: 60 }, (_, i) => i));
    await ask(instances.at(-1) as Gateway, `mutation { liftBan(caller: "${id}") }`);
    // Each instance remembers a ban for up to five seconds.
    await until(async () => (await send(0, '{ viewer { plan } }')).status === 200, 7);
  });
});
