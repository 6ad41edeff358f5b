import type { UsageDay } from '../../src/access/usage-service';
import { Limiter } from '../../src/rate-limit/limiter';
import { ADMIN_KEY, type Gateway, startGateway, type TestKey } from '../helper/gateway';
import { socketClient } from '../helper/live';
import { StatementLog } from '../helper/statements';

const DAY = 86_400_000;
const NOON = Date.parse('2026-11-23T12:00:00Z');
let clock = NOON;
let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway({ ANONYMOUS_ACCESS: 'write' }, () => clock);
});
beforeEach(() => {
  clock = NOON;
});
afterAll(() => gateway.close());

type Headers = Record<string, string | undefined>;
const ANONYMOUS: Headers = { 'x-api-key': undefined };

const createKey = (perMinute: number) => gateway.createKey({ plan: 'ENTERPRISE', perMinute, perDay: 1_000_000 });

async function usageOf(headers: Headers, days = 1, of = gateway): Promise<UsageDay[]> {
  const query = 'query ($days: Int!) { viewer { usage(days: $days) { date requests refused bans } } }';
  const { data } = await of.graphql<{ viewer: { usage: UsageDay[] } }>(query, { days }, headers);
  return data.viewer.usage;
}

const today = async (key: TestKey, of = gateway) => (await usageOf(key.headers, 1, of))[0];

/** The callers with the most requests: their ids and numbers of requests. `undefined` stands for all anonymous callers. */
async function topCallers(args: string): Promise<[id: string | undefined, requests: number][]> {
  const data = await gateway.data<{ topCallers: { apiKey: { id: string } | null; requests: number }[] }>(
    `{ topCallers(${args}) { apiKey { id } requests } }`,
  );
  return data.topCallers.map(({ apiKey, requests }) => [apiKey?.id, requests]);
}

async function ask({ headers }: TestKey, times = 1, of = gateway): Promise<number> {
  let status = 0;
  for (let i = 0; i < times; i++) status = (await of.app.inject({ url: '/pets?limit=1', headers })).statusCode;
  return status;
}

const TWO = '{ a: pets { nodes { id } } b: pets { nodes { id } } viewer { plan } }';

describe('the usage of a key counts', () => {
  test.each<[string, number, string[]]>([
    ['each REST request, and each root field that uses quota', 4, ['/pets', '/pets', TWO]],
    ['one request for an operation that fails before any field runs', 2, ['/nowhere', '{ pets { colour } }']],
    [
      'nothing for requests that use no quota',
      0,
      [
        ...['/rate_limit', '/usage', '/openapi.json', '/schema.graphql', '/livez', '/'],
        ...['{ viewer { plan usage { requests } } rateLimit { cost } }', '{ __typename }'],
      ],
    ],
  ])('%s', async (_what, requests, sent) => {
    const key = await createKey(100);
    const { headers } = key;
    for (const each of sent)
      await (each.startsWith('/') ? gateway.app.inject({ url: each, headers }) : gateway.graphql(each, {}, headers));
    expect(await today(key)).toEqual({ date: '2026-11-23', requests, refused: 0, bans: 0 });
    const { headers: told } = await gateway.app.inject({ url: '/rate_limit', headers });
    expect(told['x-ratelimit-remaining']).toBe(String(100 - requests));
  });

  test('each rejected operation as one refused request, regardless of its cost, and each ban when the ban begins', async () => {
    const key = await createKey(5);
    await ask(key, 5);
    await gateway.graphql(TWO, {}, key.headers);
    expect(await today(key)).toMatchObject({ requests: 5, refused: 1, bans: 0 });
    expect(await ask(key, 19)).toBe(429);
    await ask(key, 3);
    clock += 60_000;
    expect(await today(key)).toMatchObject({ requests: 5, refused: 23, bans: 1 });
  });

  test('the requests of each UTC day, including days without requests, from the oldest to the newest day', async () => {
    const key = await createKey(100);
    await ask(key, 3);
    clock = Date.parse('2026-11-25T23:59:59.999Z');
    await ask(key, 2);
    clock += 1;
    await ask(key);
    const expected = { 22: 0, 23: 3, 24: 0, 25: 2, 26: 1 };
    expect(await usageOf(key.headers, 5)).toEqual(
      Object.entries(expected).map(([day, requests]) => ({ date: `2026-11-${day}`, requests, refused: 0, bans: 0 })),
    );
    expect(await usageOf(key.headers, 400)).toHaveLength(400);
  });
});

describe('the sums of requests', () => {
  test('are exact when several instances count at the same time, and after instances restart', async () => {
    const key = await createKey(1_000_000);
    const instance = () => gateway.another({}, () => clock);
    const [one, two] = await Promise.all([instance(), instance()]);
    await Promise.all([one, two, gateway].flatMap((of) => Array.from({ length: 10 }, () => ask(key, 10, of))));
    await Promise.all([one.close(), two.close()]);
    expect(await today(key)).toMatchObject({ requests: 300 });
    const later = await instance();
    await ask(key, 7, later);
    await later.close();
    expect(await today(key)).toMatchObject({ requests: 307 });
  });

  test('neither lose nor repeat a request during a save', async () => {
    const key = await createKey(1_000_000);
    const top = () => gateway.data('{ topCallers(first: 1) { requests } }');
    for (let sent = 1; sent <= 20; sent++) {
      await ask(key);
      const [usage] = await Promise.all([today(key), top(), top()]);
      expect(usage).toMatchObject({ requests: sent });
    }
  });

  test('are saved with a few statements, not one for each request', async () => {
    const key = await createKey(1_000_000);
    await ask(key);
    const log = StatementLog.of(gateway.database);
    await ask(key, 50);
    log.stop();
    expect(log.texts.filter((text) => /usage/i.test(text)).length).toBeLessThanOrEqual(3);
  });

  test('are kept for 400 days', async () => {
    const key = await createKey(1_000_000);
    const saved = async () => {
      await gateway.data('{ topCallers { requests } }');
      return (await usageOf(key.headers, 400))[0]?.requests;
    };
    await ask(key);
    clock = NOON + 399 * DAY;
    await ask(key);
    expect(await saved()).toBe(1);
    clock = NOON + 401 * DAY;
    await ask(key);
    await saved();
    clock = NOON + 399 * DAY;
    expect(await saved()).toBe(0);
  });
});

describe('usage is shown', () => {
  test('to the owner of a key, and to an admin for all keys; a list of keys takes one SQL statement', async () => {
    const keys = await Promise.all([createKey(100), createKey(100), createKey(100)]);
    for (const [i, key] of keys.entries()) await ask(key, i + 1);
    const own = await gateway.graphql('{ viewer { apiKey { usage(days: 1) { requests } } } }', {}, keys[1]?.headers);
    expect(own.data).toEqual({ viewer: { apiKey: { usage: [{ requests: 2 }] } } });

    const log = StatementLog.of(gateway.database);
    const { apiKeys } = await gateway.data<{ apiKeys: { nodes: { id: string; usage: UsageDay[] }[] } }>(
      '{ apiKeys(first: 50) { nodes { id usage(days: 1) { requests } } } }',
    );
    log.stop();
    const byId = new Map(apiKeys.nodes.map(({ id, usage }) => [id, usage[0]?.requests]));
    expect(keys.map(({ id }) => byId.get(id))).toEqual([1, 2, 3]);
    expect(log.texts.filter((text) => /from usage_days/.test(text))).toHaveLength(1);
  });

  const aliases = (count: number) =>
    Array.from({ length: count }, (_, i) => `u${i}: usage(days: ${1 + (i % 3)}) { date }`).join(' ');
  const readsIn = ({ texts }: StatementLog) => texts.filter((text) => /from usage_days/.test(text)).length;

  test('under many aliases with a single statement; an operation with too many aliases is rejected without one', async () => {
    const { headers } = await createKey(1000);
    const log = StatementLog.of(gateway.database);
    const { data, errors } = await gateway.graphql(`{ viewer { ${aliases(200)} } }`, {}, headers);
    expect([errors, readsIn(log)]).toEqual([[], 1]);
    expect([data.viewer?.u0?.length, data.viewer?.u199?.length]).toEqual([1, 2]);
    const { status, errors: rejections } = await gateway.graphql(`{ viewer { ${aliases(400)} } }`, {}, headers);
    expect([status, rejections[0]?.extensions?.code, readsIn(log)]).toEqual([400, 'OPERATION_TOO_COMPLEX', 1]);
    log.stop();
  });

  test('under many aliases over WebSocket with a single statement', async () => {
    const { headers } = await createKey(1000);
    const client = socketClient(await gateway.listen(), headers);
    const log = StatementLog.of(gateway.database);
    const { answers } = await client.subscribe(`{ viewer { apiKey { ${aliases(200)} } } }`).untilOver();
    log.stop();
    client.close();
    expect([answers[0]?.errors, answers[0]?.data?.viewer?.apiKey?.u2?.length]).toEqual([undefined, 3]);
    expect(readsIn(log)).toBe(1);
  });

  test('with the limits of each key, which are read once although they have many aliases', async () => {
    const keys = await Promise.all(Array.from({ length: 20 }, () => gateway.createKey({ name: 'aliases' })));
    const peek = jest.spyOn(Limiter.prototype, 'peek');
    const limits = Array.from({ length: 100 }, (_, i) => `r${i}: rateLimit { cost }`).join(' ');
    await gateway.data(`{ apiKeys(first: 20, search: "aliases") { nodes { id ${limits} } } }`);
    const read = peek.mock.calls.map(([{ id }]) => id);
    peek.mockRestore();
    for (const { id } of keys) expect(read.filter((each) => each === id)).toHaveLength(1);
  });

  test('to admins for all anonymous callers together, but not to anonymous callers themselves', async () => {
    const sum = async () => (await topCallers('first: 100')).find(([id]) => id === undefined)?.[1] ?? 0;
    const before = await sum();
    for (const remoteAddress of ['192.0.2.1', '192.0.2.2', '2001:db8::1'])
      await gateway.app.inject({ url: '/pets', headers: ANONYMOUS, remoteAddress });
    expect(await sum()).toBe(before + 3);
    expect(await usageOf(ANONYMOUS, 30)).toEqual([]);
    const rest = await gateway.app.inject({ url: '/usage', headers: ANONYMOUS });
    expect([rest.statusCode, rest.json()]).toEqual([200, []]);
  });

  test('to admins for the callers with the most requests, in descending order', async () => {
    clock = NOON + 900 * DAY;
    const [a, b, c] = await Promise.all([createKey(500), createKey(500), createKey(500)]);
    await ask(a, 20);
    await ask(b, 30);
    await ask(c, 10);
    clock += DAY;
    await ask(c, 15);
    const others = async (args: string) => (await topCallers(args)).filter(([id]) => id !== ADMIN_KEY.split('_')[1]);
    expect(await others('days: 2')).toEqual([
      [b.id, 30],
      [c.id, 25],
      [a.id, 20],
    ]);
    expect(await others('days: 1')).toEqual([[c.id, 15]]);
    expect(await topCallers('days: 2, first: 1')).toEqual([[b.id, 30]]);
  });

  test('by GET /usage, for thirty days by default', async () => {
    const key = await createKey(100);
    await ask(key, 4);
    const get = async (url: string) => (await gateway.app.inject({ url, headers: key.headers })).json();
    expect(await get('/usage?days=2')).toEqual(await usageOf(key.headers, 2));
    expect(await get('/usage')).toHaveLength(30);
    expect(await get('/usage?days=400')).toHaveLength(400);
  });
});

test.each(['0', '401', '-1', '1.5', 'week', ''])('GET /usage rejects %j as the value of days', async (days) => {
  const { statusCode, body } = await gateway.app.inject({ url: `/usage?days=${days}` });
  expect([statusCode, JSON.parse(body)]).toMatchObject([
    400,
    { code: 'BAD_USER_INPUT', details: [{ path: 'days', message: 'must be an integer from 1 to 400' }] },
  ]);
});

test.each([
  ['{ viewer { usage(days: 0) { requests } } }', 'days', 400],
  ['{ viewer { apiKey { usage(days: 401) { requests } } } }', 'days', 400],
  ['{ topCallers(days: 401, first: 1) { requests } }', 'days', 400],
  ['{ apiKeys { nodes { usage(days: -1) { requests } } } }', 'days', 400],
  ['{ topCallers(first: 0) { requests } }', 'first', 100],
  ['{ topCallers(first: 101) { requests } }', 'first', 100],
])('%s is rejected', async (query, path, most) => {
  const { errors } = await gateway.graphql(query);
  const details = [{ path, message: `must be an integer from 1 to ${most}` }];
  expect(errors[0]?.extensions).toMatchObject({ code: 'BAD_USER_INPUT', details });
});
