import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Gateway, startGateway, type TestKey } from '../../helper/gateway';
import { running, socketClient } from '../../helper/live';
import { ask } from '../../helper/load';
import { toldBy } from '../../helper/standing';
import { until } from '../../helper/until';

/** Slots, of which a quarter is a caller's share. */
const SLOTS = 8;
const SHARE = SLOTS / 4;
/** What one caller may take as long as nobody else needs the rest. */
const MOST = SLOTS - SHARE;
/** What is left of a minute's quota after one request, and those whose bodies never arrived. */
const LEFT = 60 - 1 - MOST;

let gateway: Gateway;
let url: string;
let mine: TestKey;
let other: TestKey;
beforeAll(async () => {
  // A machine with other work may keep the event loop waiting, which is another reason to refuse.
  const MAX_EVENT_LOOP_LAG_MS = '60000';
  gateway = await startGateway({ MAX_REQUESTS_IN_PROGRESS: String(SLOTS), BAN_AFTER: '5', MAX_EVENT_LOOP_LAG_MS });
  url = await gateway.listen();
});
beforeEach(async () => {
  mine = await gateway.createKey();
  other = await gateway.createKey();
  // Whose a request is, is known once its key has been looked up; until then, a burst takes the slots of everybody.
  for (const { headers } of [mine, other]) await ask(url, { path: '/rate_limit', headers });
});
afterEach(async () => {
  for (const { socket } of opened.splice(0)) socket.destroy();
  await until(async () => (await inProgress()) === 0);
});
afterAll(async () => {
  gateway.server.server.closeAllConnections();
  await gateway.close();
});

interface Opened {
  readonly socket: Socket;
  received: string;
}

const opened: Opened[] = [];

/** Sends a request with one byte of a body of nine. */
function sendHalf(headers: object = {}): Opened {
  const { hostname, port } = new URL(url);
  const half: Opened = { socket: connect(Number(port), hostname).setEncoding('utf8'), received: '' };
  const head = ['POST /pets HTTP/1.1', 'Host: localhost', 'Content-Type: application/json', 'Content-Length: 9'];
  half.socket.on('error', () => undefined);
  half.socket.on('data', (text) => {
    half.received += text;
  });
  half.socket.write([...head, ...Object.entries(headers).map((field) => field.join(': ')), '', '{'].join('\r\n'));
  opened.push(half);
  return half;
}

/** Requests in progress, without the one that asks. */
async function inProgress(): Promise<number> {
  const { body } = await gateway.app.inject({ url: '/metrics' });
  return Number(/^petstore_requests_in_progress (-?\d+)$/m.exec(body)?.[1]) - 1;
}

const statusOf = async ({ headers }: { headers: Record<string, string> }) =>
  (await ask(url, { path: '/pets', headers })).status;

async function fill(headers: object, count = MOST): Promise<void> {
  for (let i = 0; i < count; i++) sendHalf(headers);
  await until(async () => (await inProgress()) === count);
}

describe.each([
  ['a key', () => mine.headers],
  ['an address', () => ({})],
])('requests of %s whose bodies do not arrive', (_name, callerOf) => {
  test('leave a share of the slots to others, and get 429 for more', async () => {
    const headers: Record<string, string> = callerOf();
    const halves = Array.from({ length: 3 * SLOTS }, () => sendHalf(headers));
    await until(async () => halves.filter(({ received }) => received).length === 3 * SLOTS - MOST);
    for (const { received } of halves.filter((half) => half.received)) {
      expect(received).toMatch(/^HTTP\/1\.1 429 /);
      expect(received).toMatch(/^retry-after: 1$/m);
      expect(received).toMatch(/"code":"RATE_LIMITED".*"status":429/);
    }
    for (let i = 0; i < 20; i++) expect(await statusOf(other)).toBe(200);
    expect(await statusOf({ headers })).toBe(429);
    expect((await ask(url, { path: '/livez', headers })).status).toBe(200);
    expect((await ask(url, { path: '/graphql?query={__typename}', headers })).body).toContain('RATE_LIMITED');
  });

  test('may take more than their share while others need nothing', async () => {
    await fill(callerOf(), MOST - 1);
    expect(await statusOf({ headers: callerOf() })).toBe(200);
  });
});

test('such a refusal takes nothing from the quota, and leads to no ban', async () => {
  await fill(mine.headers);
  for (let i = 0; i < 10; i++) {
    const response = await gateway.server.inject({ url: '/pets', headers: mine.headers });
    expect([response.statusCode, response.json().code]).toEqual([429, 'RATE_LIMITED']);
    expect(toldBy(response.headers)).toMatchObject({ limit: 60, remaining: 60, retryAfter: 1 });
  }
  for (const { socket } of opened.splice(0)) socket.destroy();
  await until(async () => (await inProgress()) === 0);
  const response = await gateway.server.inject({ url: '/pets', headers: mine.headers });
  expect([response.statusCode, toldBy(response.headers).remaining]).toEqual([200, LEFT]);
});

test('several callers may have their shares at once; only when all slots are taken everybody gets 503', async () => {
  for (let i = 0; i < 4; i++) await fillFor(await gateway.createKey());
  expect(await inProgress()).toBe(SLOTS);
  expect(await statusOf(other)).toBe(503);

  async function fillFor({ headers }: TestKey): Promise<void> {
    const before = await inProgress();
    for (let i = 0; i < SHARE; i++) sendHalf(headers);
    await until(async () => (await inProgress()) === before + SHARE);
  }
});

test('operations over WebSocket have the same share, and a refusal counts towards nothing', async () => {
  const client = socketClient(url, mine.headers);
  client.subscribe('subscription { petChanged { kind } }');
  await until(async () => (await running(gateway)) === 1);
  await fill(mine.headers);
  for (let i = 0; i < 10; i++) {
    const { error } = await client.subscribe('{ pets { totalCount } }').untilOver();
    expect(error).toMatchObject([{ extensions: { code: 'RATE_LIMITED', status: 429 } }]);
  }
  const others = socketClient(url, other.headers);
  expect((await others.subscribe('{ pets { totalCount } }').untilOver()).error).toBeUndefined();
  for (const { socket } of opened.splice(0)) socket.destroy();
  await until(async () => (await inProgress()) === 0);
  const { answers } = await client.subscribe('{ rateLimit { bannedUntil windows { remaining } } }').untilOver();
  expect(answers).toMatchObject([{ data: { rateLimit: { bannedUntil: null, windows: [{ remaining: LEFT }, {}] } } }]);
  client.close();
  others.close();
});

describe('work whose client has left', () => {
  /** Blocks statements until they are released. */
  function holdStatements() {
    const { query } = gateway.database;
    let letGo: () => void = () => undefined;
    const released = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const held = { count: 0, letGo: () => Object.assign(gateway.database, { query }) && letGo() };
    const holding: typeof query = async (...args) => {
      held.count += 1;
      await released;
      return query.apply(gateway.database, args) as ReturnType<typeof query<never>>;
    };
    Object.assign(gateway.database, { query: holding });
    return held;
  }

  /** Asks, and returns how to leave. */
  const overHttp = () => {
    const asked = request(`${url}/pets`, { headers: mine.headers }).on('error', () => undefined);
    asked.end();
    return () => void asked.destroy();
  };
  const overWebSocket = () => {
    const client = socketClient(url, mine.headers);
    client.subscribe('{ pets { nodes { name } } }');
    return () => client.close();
  };

  test.each([
    ['over HTTP', overHttp],
    ['over WebSocket', overWebSocket],
  ])('counts until it ends: %s', async (_name, start) => {
    await statusOf(mine);
    const held = holdStatements();
    const left: (() => void)[] = [];
    for (let i = 0; i < MOST; i++) {
      left.push(start());
      await until(async () => held.count === i + 1);
    }
    for (const leave of left) leave();
    await sleep(200);
    expect(await inProgress()).toBe(MOST);
    expect(await statusOf(mine)).toBe(429);
    expect((await ask(url, { path: '/rate_limit', headers: other.headers })).status).toBe(200);
    held.letGo();
    await until(async () => (await inProgress()) === 0);
    expect(await statusOf(mine)).toBe(200);
  });
});
