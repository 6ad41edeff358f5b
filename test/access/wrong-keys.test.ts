import { once } from 'node:events';
import { GRAPHQL_TRANSPORT_WS_PROTOCOL } from 'graphql-ws';
import { WebSocket } from 'ws';
import { newKey } from '../../src/access/key-format';
import { ADMIN_KEY, type Gateway, startGateway, type TestKey } from '../helper/gateway';
import { captureLog } from '../helper/log-lines';
import { watchLookUps } from '../helper/look-ups';
import { toldBy } from '../helper/standing';
import { until } from '../helper/until';

const lines = captureLog();

let gateway: Gateway;
let url: string;
beforeAll(async () => {
  gateway = await startGateway({ TRUST_PROXY: '127.0.0.1', LOG_LEVEL: 'error' });
  url = await gateway.listen();
});
afterEach(() => jest.restoreAllMocks());
afterAll(() => gateway.close());

let addresses = 0;
const newAddress = () => `198.18.${++addresses >> 8}.${addresses & 255}`;

/** @returns a well-formed key that does not exist. */
function unknownKey(): string {
  const { id, secret } = newKey();
  return `ps_${id}_${secret}`;
}

const send = (path: string, key: string | undefined, from: string) =>
  gateway.server.inject({
    url: path,
    remoteAddress: '127.0.0.1',
    headers: { 'x-forwarded-for': from, ...(key !== undefined && { 'x-api-key': key }) },
  });

/** The requests per minute that an address has left. */
async function remaining(from: string): Promise<number> {
  return toldBy((await send('/livez', undefined, from)).headers).remaining;
}

/** Bans an address. */
async function ban(from: string): Promise<void> {
  for (let i = 0; i < 81; i++) await send('/pets', '', from);
  expect((await send('/pets', undefined, from)).json().code).toBe('KEY_BANNED');
}

async function open(from: string, headers: Record<string, string> = {}): Promise<WebSocket> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/graphql`, GRAPHQL_TRANSPORT_WS_PROTOCOL, {
    headers: { 'x-forwarded-for': from, ...headers },
  });
  await Promise.race([once(socket, 'open'), once(socket, 'error')]).catch(() => undefined);
  return socket;
}

async function init(from: string, key: string): Promise<number> {
  const socket = await open(from);
  socket.send(JSON.stringify({ type: 'connection_init', payload: { apiKey: key } }));
  const [code] = await once(socket, 'close');
  return code;
}

const PLACES: readonly (readonly [string, (key: string, from: string) => Promise<unknown>])[] = [
  ...['/pets', '/graphql?query={__typename}', '/graphql/stream?query={__typename}', '/rate_limit', '/nothing'].map(
    (path) => [`GET ${path}`, (key: string, from: string) => send(path, key, from)] as const,
  ),
  ...['/metrics', '/docs/rest', '/openapi.json', '/'].map(
    (path) => [`GET ${path}`, (key: string, from: string) => send(path, key, from)] as const,
  ),
  ['the upgrade to WebSocket', (key, from) => open(from, { 'x-api-key': key })],
  ['connection_init', (key, from) => init(from, key)],
];

describe.each(PLACES)('a wrong key sent to %s', (_place, sendTo) => {
  test.each([
    ['unknown', unknownKey],
    ['malformed', () => 'secret'],
  ])('is charged to its address, if it is %s', async (_kind, key) => {
    const from = newAddress();
    await sendTo(key(), from);
    expect(await remaining(from)).toBe(59);
  });

  test('is not looked up if it is malformed', async () => {
    const ids = watchLookUps(gateway.database);
    await sendTo('ps_short', newAddress());
    expect(ids).toEqual([]);
  });
});

test('health checks and preflights do not look at keys', async () => {
  const from = newAddress();
  const ids = watchLookUps(gateway.database);
  await send('/livez', unknownKey(), from);
  const headers = { 'x-forwarded-for': from, 'x-api-key': unknownKey() };
  const preflight = await gateway.server.inject({
    method: 'OPTIONS',
    url: '/pets',
    headers,
    remoteAddress: '127.0.0.1',
  });
  expect([preflight.statusCode, ids, await remaining(from)]).toEqual([204, [], 60]);
});

test('look-ups of keys count for the address', async () => {
  const from = newAddress();
  const sessionFor = jest.spyOn(gateway.database, 'sessionFor');
  await send('/pets', unknownKey(), from);
  await send('/metrics', unknownKey(), from);
  expect(sessionFor.mock.calls.map(([{ callerId: caller }]) => caller)).toEqual([from, from]);
});

test('concurrent requests with the same key, from different addresses, share a look-up', async () => {
  const { id, whole } = await gateway.createKey({ plan: 'PRO' });
  const ids = watchLookUps(gateway.database);
  const responses = await Promise.all(Array.from({ length: 50 }, () => send('/pets', whole, newAddress())));
  expect(new Set(responses.map(({ statusCode }) => statusCode))).toEqual(new Set([200]));
  expect(ids).toEqual([id]);
});

test('many valid keys that are new to the instance are all accepted at once from one address', async () => {
  const keys = await Promise.all(Array.from({ length: 90 }, () => gateway.createKey()));
  const from = newAddress();
  const responses = await Promise.all(keys.map(({ whole }) => send('/pets', whole, from)));
  expect(responses.filter(({ statusCode }) => statusCode !== 200)).toEqual([]);
});

test('concurrent wrong keys of one address cause no more look-ups than its quota, and two more', async () => {
  const from = newAddress();
  const ids = watchLookUps(gateway.database);
  const responses = await Promise.all(Array.from({ length: 200 }, () => send('/pets', unknownKey(), from)));
  const codes = responses.map((response) => response.json().code);
  expect(codes.filter((code) => code === 'UNAUTHENTICATED')).toHaveLength(60);
  expect(new Set(codes)).toEqual(new Set(['UNAUTHENTICATED', 'RATE_LIMITED']));
  expect(ids.length).toBeLessThanOrEqual(62);
});

describe('at a banned address', () => {
  let from: string;
  beforeEach(async () => {
    from = newAddress();
    await ban(from);
  });

  test('two unknown keys per second are looked up, one after the other; the others get 429 without charge', async () => {
    let running = 0;
    const ids = watchLookUps(gateway.database, async (read) => {
      expect(++running).toBe(1);
      const rows = await read();
      running -= 1;
      return rows;
    });
    const before = (await send('/pets', undefined, from)).json().message;
    const flood = () => Promise.all(Array.from({ length: 50 }, () => send('/pets', unknownKey(), from)));
    const responses = await flood();
    expect(ids).toHaveLength(2);
    const rejected = responses.filter((response) => response.json().code === 'RATE_LIMITED');
    expect(rejected).toHaveLength(48);
    for (const { statusCode, headers } of rejected) {
      expect([statusCode, headers['retry-after']]).toEqual([429, '1']);
      expect(toldBy(headers).remaining).toBe(60);
    }
    // The times until the end of the ban in the message count down.
    const untilOf = (message: string) => /until \S+/.exec(message)?.[0];
    expect(untilOf((await send('/pets', undefined, from)).json().message)).toBe(untilOf(before));
    jest.spyOn(performance, 'now').mockReturnValue(performance.now() + 1_000);
    await flood();
    expect(ids).toHaveLength(4);
  });

  test.each(['/metrics', '/docs/rest'])('the limit applies to GET %s', async (path) => {
    const responses = await Promise.all(Array.from({ length: 5 }, () => send(path, unknownKey(), from)));
    expect(
      responses.filter((response) => response.statusCode === 429 && response.json().code === 'RATE_LIMITED'),
    ).toHaveLength(3);
  });

  test('the limit applies to connection_init, which gets the close code 1013', async () => {
    // A banned address cannot open a WebSocket, so these are opened before the ban.
    const address = newAddress();
    const sockets = await Promise.all(Array.from({ length: 5 }, () => open(address)));
    await ban(address);
    const codes = await Promise.all(
      sockets.map(async (socket) => {
        socket.send(JSON.stringify({ type: 'connection_init', payload: { apiKey: unknownKey() } }));
        return (await once(socket, 'close'))[0];
      }),
    );
    expect(codes.sort()).toEqual([1013, 1013, 1013, 4403, 4403]);
  });

  test('a valid key that the instance does not know gets in during a flood, at the latest a second later', async () => {
    const { whole } = await gateway.createKey();
    await Promise.all(Array.from({ length: 20 }, () => send('/pets', unknownKey(), from)));
    expect((await send('/pets', whole, from)).statusCode).toBe(429);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect((await send('/pets', whole, from)).statusCode).toBe(200);
  });

  test('a valid key that the instance knows is served at once, and when it is looked up again', async () => {
    const { id, whole } = await gateway.createKey();
    await send('/pets', whole, newAddress());
    const flood = Promise.all(Array.from({ length: 20 }, () => send('/pets', unknownKey(), from)));
    expect((await send('/pets', whole, from)).statusCode).toBe(200);
    jest.spyOn(performance, 'now').mockReturnValue(performance.now() + 5_001);
    const sessionFor = jest.spyOn(gateway.database, 'sessionFor');
    expect((await send('/pets', whole, from)).statusCode).toBe(200);
    expect(sessionFor.mock.calls[0]?.[0].callerId).toBe(id);
    await flood;
  });
});

describe('GET /metrics on the main port', () => {
  let key: TestKey;
  beforeAll(async () => {
    key = await gateway.createKey({ scopes: ['ADMIN'] });
  });

  test('uses no quota of an ADMIN key, but a request without access counts as one', async () => {
    for (let i = 0; i < 3; i++) expect((await send('/metrics', key.whole, newAddress())).statusCode).toBe(200);
    const { headers } = await send('/pets', key.whole, newAddress());
    expect(toldBy(headers).remaining).toBe(59);
    const from = newAddress();
    expect((await send('/metrics', undefined, from)).statusCode).toBe(401);
    expect(await remaining(from)).toBe(59);
  });

  test('is rejected during the ban of the key or of the address', async () => {
    for (let i = 0; i < 80; i++) await send('/pets', key.whole, newAddress());
    expect((await send('/metrics', key.whole, newAddress())).json().code).toBe('KEY_BANNED');
    const from = newAddress();
    await ban(from);
    expect((await send('/metrics', undefined, from)).json().code).toBe('KEY_BANNED');
    expect((await send('/metrics', 'wrong', from)).json().code).toBe('KEY_BANNED');
    expect((await send('/metrics', ADMIN_KEY, from)).statusCode).toBe(200);
  });
});

test('failed look-ups get 503, and are logged once a second, with their number and without a stack', async () => {
  const down = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
  watchLookUps(gateway.database, () => Promise.reject(down));
  lines.length = 0;
  const responses = await Promise.all(Array.from({ length: 30 }, () => send('/pets', unknownKey(), newAddress())));
  expect(new Set(responses.map(({ statusCode }) => statusCode))).toEqual(new Set([503]));
  expect(await init(newAddress(), unknownKey())).toBe(1013);
  const total = () => lines.reduce((sum, { failures }) => sum + Number(failures), 0);
  await until(() => total() === 31);
  expect(lines.length).toBeLessThanOrEqual(3);
  for (const line of lines)
    expect(line).toMatchObject({ msg: 'API keys could not be looked up', reason: 'connect ECONNREFUSED' });
  expect(JSON.stringify(lines)).not.toContain('stack');
});
