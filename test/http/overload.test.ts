import { once } from 'node:events';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { GRAPHQL_TRANSPORT_WS_PROTOCOL } from 'graphql-ws';
import { WebSocket } from 'ws';
import { newKey } from '../../src/access/key-format';
import { ADMIN_KEY, type Gateway, startGateway, type TestKey } from '../helper/gateway';
import { socketClient as createSocketClient, running } from '../helper/live';
import { watchLookUps } from '../helper/look-ups';
import { responsesIn } from '../helper/messages';
import { until } from '../helper/until';
import { exchange, parseResponse } from '../helper/wire';
import { ask, type Headers, PETS } from './client';

/** The number of slots for requests in progress. A caller can hold at most a quarter of the slots. */
const SLOTS = 64;
const SHARE = SLOTS / 4;

let gateway: Gateway;
let url: string;
let mine: TestKey;
let other: TestKey;
beforeAll(async () => {
  gateway = await startGateway({
    MAX_REQUESTS_IN_PROGRESS: String(SLOTS),
    MAX_SUBSCRIPTIONS_PER_CALLER: String(SHARE),
    BAN_AFTER: '5',
    ANONYMOUS_ACCESS: 'write',
  });
  url = await gateway.listen();
});
beforeEach(async () => {
  mine = await gateway.createKey();
  other = await gateway.createKey();
  // Looks up both keys, because a request counts towards the limit per caller only after the look-up of its key.
  for (const { headers } of [mine, other]) await ask(gateway, 'GET /rate_limit', { headers });
});
afterEach(async () => {
  for (const undo of undone.splice(0)) undo();
  await leaveAll();
});
afterAll(() => gateway.close());

interface Opened {
  readonly socket: Socket;
  received: string;
}

/** The half-sent requests of the test. */
const opened: Opened[] = [];
/** What the test has to undo, even if it fails. */
const undone: (() => void)[] = [];

function socketClient(headers: Headers) {
  const client = createSocketClient(url, headers);
  undone.push(() => client.close());
  return client;
}

function write(text: string, to = url): Opened {
  const half: Opened = { socket: connect(Number(new URL(to).port), '127.0.0.1').setEncoding('utf8'), received: '' };
  half.socket
    .on('error', () => undefined)
    .on('data', (data) => {
      half.received += data;
    });
  half.socket.write(text);
  opened.push(half);
  return half;
}

/** Sends a request with only the first of the nine bytes of its body. */
function sendHalf(headers: Headers = {}, to = url): Opened {
  const fields = Object.entries({
    Host: 'localhost',
    'Content-Type': 'application/json',
    'Content-Length': '9',
    ...headers,
  });
  return write(['POST /pets HTTP/1.1', ...fields.map((field) => field.join(': ')), '', '{'].join('\r\n'), to);
}

const inProgress = () => gateway.metric('requests_in_progress');

/** Takes slots with half-sent requests, and waits until only the half-sent requests of the test are in progress. */
async function fill(headers: Headers, count = SHARE): Promise<void> {
  for (let i = 0; i < count; i++) sendHalf(headers);
  await until(async () => (await inProgress()) === opened.length);
}

async function leaveAll(): Promise<void> {
  for (const { socket } of opened.splice(0)) socket.destroy();
  await until(async () => (await inProgress()) === 0);
}

const read = (headers: Headers, on = 'GET /pets') =>
  ask(gateway, on, { headers: { 'x-api-key': undefined, ...headers } });

describe.each<[name: string, callerOf: () => Headers]>([
  ['a caller with a key', () => mine.headers],
  ['a caller without a key', () => ({})],
])('%s that sends requests without their bodies', (_name, callerOf) => {
  test('gets at most a quarter of the slots; further requests get 429, use no quota and lead to no ban', async () => {
    const headers = callerOf();
    const before = (await read(headers, 'GET /rate_limit')).told.remaining;
    const halves = Array.from({ length: SLOTS }, () => sendHalf(headers));
    await until(async () => halves.filter(({ received }) => received).length === SLOTS - SHARE);
    for (const { received } of halves.filter((half) => half.received)) {
      expect(received).toMatch(/^HTTP\/1\.1 429 /);
      expect(received).toMatch(/^retry-after: 1$/m);
      expect(received).toMatch(/"code":"RATE_LIMITED".*"status":429/);
    }
    for (let i = 0; i < 20; i++) expect((await read(other.headers)).status).toBe(200);
    for (let i = 0; i < 10; i++)
      expect(await read(headers)).toMatchObject({
        status: 429,
        code: 'RATE_LIMITED',
        told: { limit: 60, remaining: before, retryAfter: 1 },
      });
    expect((await read(headers, 'GET /livez')).status).toBe(200);
    expect((await read(headers, 'GET /graphql?query={__typename}')).code).toBe('RATE_LIMITED');
    await leaveAll();
    // The requests whose bodies never arrived have used quota.
    expect(await read(headers)).toMatchObject({ status: 200, told: { remaining: before - SHARE - 1 } });
  });
});

test('when several callers have taken all slots, every request gets 503 at once, except health checks', async () => {
  const client = socketClient(other.headers);
  client.subscribe('subscription { petChanged { kind } }');
  await until(async () => (await running(gateway)) === 1);
  for (let i = 0; i < SLOTS / SHARE; i++) await fill((await gateway.createKey()).headers, SHARE);
  const begun = performance.now();
  expect(await read(other.headers)).toMatchObject({ status: 503, code: 'SERVICE_UNAVAILABLE' });
  expect(performance.now() - begun).toBeLessThan(3_000);
  const { error, answers } = await client.subscribe(PETS).untilOver();
  expect([error, answers]).toMatchObject([[{ extensions: { code: 'SERVICE_UNAVAILABLE', status: 503 } }], []]);
  expect((await read({}, 'GET /livez')).status).toBe(200);
  await leaveAll();
  expect((await read(other.headers)).status).toBe(200);
});

test('during overload, a connection that sends more than four requests in a packet is closed', async () => {
  for (let i = 0; i < SLOTS / SHARE; i++) await fill((await gateway.createKey()).headers, SHARE);
  const body = JSON.stringify({ query: PETS });
  const post = `POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const statuses = ({ received }: Opened) => received.match(/HTTP\/1\.1 \d+/g) ?? [];
  const few = write(post.repeat(4));
  await until(() => statuses(few).length === 4);
  await until(() => statuses(few).length === 4);
  few.socket.write(post);
  await until(() => statuses(few).length === 5);
  expect(new Set(statuses(few))).toEqual(new Set(['HTTP/1.1 503']));
  for (const times of [5, 1000]) {
    const many = write(post.repeat(times));
    await until(() => many.socket.closed);
    expect(statuses(many).length).toBeLessThanOrEqual(4);
  }
});

test('a large body counts as further requests in progress, over HTTP and WebSocket', async () => {
  const payload = { query: '{ __typename }', variables: { unused: 'x'.repeat(90_000) } };
  const post = async ({ headers }: TestKey, path: string) => {
    const init = {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(payload),
    };
    return (await fetch(new URL(path, url), init)).status;
  };
  await fill(mine.headers, SHARE - 12);
  expect(await post(mine, '/graphql')).toBe(200);
  await fill(mine.headers, 2);
  for (const path of ['/graphql', '/graphql/stream', '/pets']) expect(await post(mine, path)).toBe(429);
  const large = socketClient(mine.headers).subscribe(payload.query, payload.variables);
  expect((await large.untilOver()).error).toMatchObject([{ extensions: { code: 'RATE_LIMITED' } }]);
  expect(await post(other, '/graphql')).toBe(200);
  expect((await ask(gateway, 'GET /pets', { headers: mine.headers })).status).toBe(200);
  await leaveAll();
  // A caller may always have one.
  expect(await post(mine, '/graphql')).toBe(200);
});

test('a quarter of the slots is reserved for callers with few requests in progress', async () => {
  const roomy = await gateway.another({ MAX_REQUESTS_IN_PROGRESS: '128', ANONYMOUS_ACCESS: 'write' });
  const to = await roomy.listen();
  const keys = await Promise.all(Array.from({ length: 4 }, () => gateway.createKey()));
  const get = (headers: Headers) => ask(roomy, 'GET /pets', { headers });
  for (const { headers } of [...keys, other]) await get(headers);
  for (const { headers } of keys) for (let i = 0; i < 32; i++) sendHalf(headers, to);
  await until(async () => opened.filter(({ received }) => received.startsWith('HTTP/1.1 503')).length > 0);
  const [last] = keys.slice(-1);
  expect(await get(last?.headers ?? {})).toMatchObject({ status: 503, code: 'SERVICE_UNAVAILABLE' });
  expect(await get(other.headers)).toMatchObject({ status: 200 });
  for (const { socket } of opened.splice(0)) socket.destroy();
  await roomy.close();
});

test('operations over WebSocket count towards the limit per caller; rejections use no quota and cause no ban', async () => {
  const client = socketClient(mine.headers);
  client.subscribe('subscription { petChanged { kind } }');
  await until(async () => (await running(gateway)) === 1);
  await fill(mine.headers);
  for (let i = 0; i < 10; i++) {
    const { error } = await client.subscribe(PETS).untilOver();
    expect(error).toMatchObject([{ extensions: { code: 'RATE_LIMITED', status: 429 } }]);
  }
  const others = socketClient(other.headers);
  expect((await others.subscribe(PETS).untilOver()).error).toBeUndefined();
  await leaveAll();
  const { answers } = await client.subscribe('{ rateLimit { bannedUntil windows { remaining } } }').untilOver();
  expect(answers).toMatchObject([
    { data: { rateLimit: { bannedUntil: null, windows: [{ remaining: 59 - SHARE }, {}] } } },
  ]);
});

test('a request whose body does not arrive in time gets 408, and the connection is closed', async () => {
  const hasty = await gateway.another({ REQUEST_TIMEOUT_MS: '200', ANONYMOUS_ACCESS: 'write' });
  const half = sendHalf({}, await hasty.listen());
  await once(half.socket, 'close');
  const { status, headers, body } = parseResponse(half.received);
  expect([status, JSON.parse(body)]).toMatchObject([408, { code: 'REQUEST_TIMEOUT', status: 408 }]);
  expect(headers).toMatchObject({ connection: 'close', 'x-ratelimit-limit': '60' });
  await hasty.close();
});

describe('a request whose client has disconnected', () => {
  /** Delays the queries that contain the text, until `release` is called. */
  function hold(text: string) {
    const { database } = gateway;
    const query = database.query.bind(database);
    let finish: () => void = () => undefined;
    const released = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const spy = jest.spyOn(database, 'query').mockImplementation(async (...args) => {
      if (args[0].text.includes(text)) {
        held.count += 1;
        await released;
      }
      return query(...args) as Promise<never[]>;
    });
    const held = {
      count: 0,
      release: () => {
        spy.mockRestore();
        finish();
      },
    };
    undone.push(held.release);
    return held;
  }

  const overHttp = () => {
    const asked = request(`${url}/pets`, { headers: mine.headers }).on('error', () => undefined);
    asked.end();
    return () => void asked.destroy();
  };
  const overWebSocket = () => {
    const client = socketClient(mine.headers);
    client.subscribe('{ pets { nodes { name } } }');
    return () => client.close();
  };

  test.each([
    ['over HTTP', 4, overHttp],
    ['over WebSocket', 4, overWebSocket],
  ])('keeps its slot until its database query ends: %s', async (_name, count, start) => {
    await fill(mine.headers, SHARE - count);
    const held = hold('from pets ');
    const leaving: (() => void)[] = [];
    for (let i = 0; i < count; i++) {
      leaving.push(start());
      await until(async () => held.count === i + 1);
    }
    for (const leave of leaving) leave();
    await sleep(200);
    expect(await inProgress()).toBe(SHARE);
    expect((await read(mine.headers)).status).toBe(429);
    expect((await read(other.headers, 'GET /rate_limit')).status).toBe(200);
    held.release();
    await leaveAll();
    expect((await read(mine.headers)).status).toBe(200);
  });

  test('keeps the requests waiting that follow it on its connection, which closes after some of them', async () => {
    const held = hold('from pets ');
    const first = write('GET /pets HTTP/1.1\r\nHost: x\r\n\r\n');
    const requests = 101;
    for (let sent = 1; sent < requests; sent += 2) {
      first.socket.write('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(2));
      await sleep(5);
    }
    expect(first.received).toBe('');
    const closed = once(first.socket, 'close');
    held.release();
    await closed;
    const responses = responsesIn(first.received);
    expect(responses.length).toBeGreaterThan(32);
    expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 200));
    // A client sends the requests again that were not answered.
    expect(responses.map(({ headers }) => headers.connection)).toEqual([
      ...responses.slice(1).map(() => 'keep-alive'),
      'close',
    ]);
  });

  const QUERY = JSON.stringify({ query: 'subscription { petChanged { petId } }' });
  const upgrade = `Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: ${GRAPHQL_TRANSPORT_WS_PROTOCOL}\r\n\r\n`;
  const body = `Accept: text/event-stream\r\nContent-Type: application/json\r\nContent-Length: ${QUERY.length}\r\n\r\n${QUERY}`;
  test.each([
    ['an upgrade to WebSocket', 'GET /graphql', upgrade, 1],
    ['an event stream', 'POST /graphql/stream', body, 1],
    ['pipelined requests', 'GET /pets', '\r\n', 5],
  ])('releases its slot if the key was still being looked up: %s', async (_name, line, rest, times) => {
    for (let i = 0; i < 2; i++) {
      const key = await gateway.createKey();
      const held = hold('from api_keys as key ');
      const { socket } = write(`${line} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key.whole}\r\n${rest}`.repeat(times));
      await until(async () => held.count > 0);
      socket.resetAndDestroy();
      await sleep(20);
      held.release();
      await sleep(50);
      await until(async () => (await running(gateway)) === 0 && (await inProgress()) === 0);
      const sockets = Array.from(
        { length: SHARE },
        () =>
          new WebSocket(`${url.replace('http', 'ws')}/graphql`, GRAPHQL_TRANSPORT_WS_PROTOCOL, {
            headers: key.headers,
          }),
      );
      await Promise.all(sockets.map((each) => once(each, 'open')));
      for (const each of sockets) each.terminate();
    }
  });
});

test('requests whose clients disconnect before the body arrives release their slots', async () => {
  for (let i = 0; i < 3 * SLOTS; i++) sendHalf().socket.destroySoon();
  await leaveAll();
  expect(await exchange(url, 'GET /pets HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 /);
});

describe('while many unknown keys of one address are looked up', () => {
  const finished: (() => void)[] = [];
  beforeEach(async () => {
    await ask(gateway, 'GET /rate_limit', { headers: other.headers });
    watchLookUps(gateway.database, async (read, id) => {
      // The key that reads the metrics is looked up again every 5 s.
      if (!ADMIN_KEY.includes(id)) await new Promise<void>((resolve) => finished.push(resolve));
      return read();
    });
    undone.push(() => {
      for (const finish of finished.splice(0)) finish();
      jest.restoreAllMocks();
    });
  });

  const flood = (keyOf: () => string, from: string) =>
    Array.from({ length: 2 * SLOTS }, () => ask(gateway, 'GET /pets', { headers: { 'x-api-key': keyOf() }, from }));

  test.each<[string, number, () => () => string]>([
    ['different keys', SHARE, () => unknownKey],
    [
      'the same key',
      // The first of these requests counts separately from the requests that join its look-up.
      SHARE + 1,
      () => {
        const key = unknownKey();
        return () => key;
      },
    ],
  ])('%s use at most %i slots, and the others get 429 without a ban', async (_what, most, keys) => {
    const from = `198.51.100.${finished.length + 1}`;
    const asked = flood(keys(), from);
    await until(async () => finished.length > 0);
    expect(await inProgress()).toBe(most);
    expect(await read(other.headers)).toMatchObject({ status: 200 });
    const first = await Promise.race(asked);
    expect(first).toMatchObject({ status: 429, code: 'RATE_LIMITED', headers: { 'retry-after': '1' } });
    while (finished.length) {
      for (const finish of finished.splice(0)) finish();
      await sleep(5);
    }
    const statuses = (await Promise.all(asked)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 401)).toHaveLength(most);
    expect(statuses.filter((status) => status === 429)).toHaveLength(2 * SLOTS - most);
  });

  test('many requests with one unknown key do not keep another key of the address from being looked up', async () => {
    const from = '198.51.100.8';
    const key = unknownKey();
    flood(() => key, from);
    const { headers } = await gateway.createKey();
    const asked = ask(gateway, 'GET /pets', { headers, from });
    await until(async () => finished.length > 1);
    for (const finish of finished.splice(0)) finish();
    expect(await asked).toMatchObject({ status: 200 });
  });

  test('requests with a key that is looked up again count for this key, not for the address', async () => {
    jest.spyOn(performance, 'now').mockReturnValue(performance.now() + 5_001);
    const from = '198.51.100.9';
    flood(unknownKey, from);
    const again = ask(gateway, 'GET /pets', { headers: mine.headers, from });
    await until(async () => finished.length > SHARE);
    for (const finish of finished.splice(0)) finish();
    expect(await again).toMatchObject({ status: 200 });
  });
});

function unknownKey(): string {
  const { id, secret } = newKey();
  return `ps_${id}_${secret}`;
}
