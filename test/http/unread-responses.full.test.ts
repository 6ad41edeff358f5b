import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { GRAPHQL_TRANSPORT_WS_PROTOCOL } from 'graphql-ws';
import { WebSocket } from 'ws';
import { type IdentityProvider, startWithProvider } from '../access/identity-provider';
import type { Gateway, TestKey } from '../helper/gateway';
import { responsesIn } from '../helper/messages';
import { until } from '../helper/until';
import { ask } from './client';

/** 100 pets with the longest name: a query for 47 names of each has a response of 4.8 MB. */
const LARGE = `{ pets(first: 100) { nodes { ${Array.from({ length: 47 }, (_, i) => `n${i}: name`).join(' ')} } } }`;
const NAME = '\u{1f415}'.repeat(255);
const MIB = 1024 * 1024;

let gateway: Gateway;
let provider: IdentityProvider;
let stop: () => Promise<void>;
let url: URL;
let key: TestKey;
beforeAll(async () => {
  const environment = { BAN_AFTER: '3', ANONYMOUS_ACCESS: 'write', JWT_PLAN: 'business' };
  ({ gateway, provider, stop } = await startWithProvider(environment));
  url = new URL(await gateway.listen());
  const description = '\u{1f415}'.repeat(2000);
  for (let i = 0; i < 100; i++) await ask(gateway, 'POST /categories', { body: { name: 'Dogs', description } });
  const creations = times(100, (i) => `p${i}: createPet(input: { name: $name, categoryId: 1 }) { id }`);
  await gateway.data(`mutation ($name: String!) { ${creations.join(' ')} }`, { name: NAME });
});
beforeEach(async () => {
  key = await gateway.createKey({ plan: 'ENTERPRISE', perMinute: 100_000, perDay: 1_000_000 });
  await ask(gateway, 'GET /rate_limit', { headers: key.headers });
});
afterEach(async () => {
  leave();
  await until(async () => (await unsent()) < MIB / 16);
  // Large responses delay the event loop on a busy machine. While the delay is long, requests get 503.
  await until(async () => (await ask(gateway, 'GET /pets?id=1')).status === 200);
});
afterAll(() => stop());

const unsent = () => gateway.metric('unsent_bytes');

const opened: { readonly socket: { destroy(): unknown } }[] = [];

function leave(): void {
  for (const { socket } of opened.splice(0)) socket.destroy();
}

/** A connection that reads only when it is told to. */
class Connection {
  readonly socket: Socket;
  received = '';

  constructor(text: string, localAddress = '127.0.0.1', port = Number(url.port)) {
    this.socket = connect({ port, host: url.hostname, localAddress }).setEncoding('latin1');
    this.socket.pause();
    this.socket
      .on('error', () => undefined)
      .on('data', (data) => {
        this.received += data;
      });
    this.socket.write(text);
    opened.push(this);
  }

  /** Waits for this many complete responses. */
  async responses(count: number) {
    let responses: ReturnType<typeof responsesIn> = [];
    await until(async () => {
      if (!this.received.length) return false;
      responses = responsesIn(this.received);
      return responses.length >= count;
    });
    return responses;
  }
}

function post(path: string, query: string, headers: object): string {
  const body = JSON.stringify({ query });
  const fields = { Host: 'localhost', 'Content-Type': 'application/json', 'Content-Length': body.length, ...headers };
  return [`POST ${path} HTTP/1.1`, ...Object.entries(fields).map((field) => field.join(': ')), '', body].join('\r\n');
}

async function subscribe(headers: Record<string, string>, queries: readonly string[]): Promise<void> {
  const socket = new WebSocket(`ws://${url.host}/graphql`, GRAPHQL_TRANSPORT_WS_PROTOCOL, { headers });
  // The upgrade is rejected if the caller already has too many unread responses.
  const isOpen = await once(socket, 'open').then(
    () => true,
    () => false,
  );
  if (!isOpen) return;
  socket.send('{"type":"connection_init"}');
  await once(socket, 'message');
  socket.pause();
  for (const [id, query] of queries.entries())
    socket.send(JSON.stringify({ type: 'subscribe', id: String(id), payload: { query } }));
  opened.push({ socket: { destroy: () => socket.terminate() } });
}

/** Calls `hoard` until more than this many bytes stay unsent: the kernel accepts some of them later. */
async function untilUnsent(bytes: number, hoard: () => unknown): Promise<void> {
  await hoard();
  let [before, same] = [0, 0];
  await until(async () => {
    const now = await unsent();
    same = now > 0 && now === before ? same + 1 : 0;
    before = now;
    if (same < 10) return false;
    if (now > bytes) return true;
    same = 0;
    await hoard();
    return false;
  }, 40);
}

const EVENTS = { Accept: 'text/event-stream' };
const page = (headers: object) =>
  ['GET /categories?limit=100 HTTP/1.1', 'Host: localhost', ...Object.entries(headers).map((field) => field.join(': '))]
    .concat('', '')
    .join('\r\n');

describe.each<[name: string, hoard: (headers: Record<string, string>, from?: string) => unknown]>([
  ['GraphQL on many connections', (headers) => times(30, () => new Connection(post('/graphql', LARGE, headers)))],
  ['pipelined GraphQL', (headers) => new Connection(post('/graphql', LARGE, headers).repeat(12))],
  ['pipelined REST pages', (headers) => new Connection(page(headers).repeat(32))],
  ['event streams', (headers) => new Connection(post('/graphql/stream', LARGE, { ...headers, ...EVENTS }).repeat(12))],
  [
    'WebSocket',
    (headers) =>
      subscribe(
        headers,
        times(12, () => LARGE),
      ),
  ],
])('a caller that does not read its responses over %s', (_name, hoard) => {
  test('gets 429 for further requests beyond 16 MiB, without a ban, until it disconnects', async () => {
    const { headers } = key;
    await untilUnsent(16 * MIB, () => hoard(headers));
    for (let i = 0; i < 5; i++) {
      for (const operation of ['GET /pets?id=1', '{ pet(id: 1) { id } }', 'mutation { deletePet(id: 1) { id } }'])
        expect(await ask(gateway, operation, { headers })).toMatchObject({
          status: 429,
          code: 'RATE_LIMITED',
          headers: { 'retry-after': '1' },
        });
    }
    expect(await ask(gateway, 'GET /livez', { headers })).toMatchObject({ status: 200 });
    expect(await ask(gateway, 'GET /pets?id=1')).toMatchObject({ status: 200 });
    // One more response of 5 MB may have become ready at the limit.
    expect(await unsent()).toBeLessThan(22 * MIB);
    leave();
    await until(async () => (await ask(gateway, 'GET /pets?id=1', { headers })).status === 200);
  });
});

test('a caller without a key that does not read its responses gets 429, callers at other addresses do not', async () => {
  await untilUnsent(16 * MIB, () => new Connection(post('/graphql', LARGE, {}).repeat(12), '127.0.0.9'));
  const read = (from: string) => ask(gateway, 'GET /pets?id=1', { headers: { 'x-api-key': undefined }, from });
  expect(await read('127.0.0.9')).toMatchObject({ status: 429, code: 'RATE_LIMITED' });
  expect(await read('127.0.0.8')).toMatchObject({ status: 200 });
});

test('a hundred users of one address that do not read their responses hold no more bytes than one caller', async () => {
  const signIn = async (sub: string) => ({ Authorization: `Bearer ${await provider.sign({ sub })}` });
  const users = await Promise.all(times(100, (i) => signIn(`user ${i}`)));
  await untilUnsent(16 * MIB, () =>
    users.map((headers) => new Connection(post('/graphql', LARGE, headers), '127.0.0.6')),
  );
  const read = (headers: object, from: string) =>
    ask(gateway, 'GET /pets?id=1', { headers: { 'x-api-key': undefined, ...headers }, from });
  const other = await signIn('other');
  expect(await read(other, '127.0.0.6')).toMatchObject({ status: 429, code: 'RATE_LIMITED' });
  expect(await read({}, '127.0.0.6')).toMatchObject({ status: 429, code: 'RATE_LIMITED' });
  expect(await read(other, '127.0.0.5')).toMatchObject({ status: 200 });
  expect(await read(key.headers, '127.0.0.6')).toMatchObject({ status: 200 });
  expect(await unsent()).toBeLessThan(22 * MIB);
});

test('the response of a mutation is sent, although its caller has too many unread responses', async () => {
  let finish: () => void = () => undefined;
  const isOver = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const { database } = gateway;
  const transaction = database.transaction.bind(database);
  jest.spyOn(database, 'transaction').mockImplementationOnce(async (...sent) => {
    const updated = await transaction(...sent);
    await isOver;
    return updated;
  });
  const { headers } = key;
  const mutation = ask(gateway, 'mutation { updatePet(id: 1, input: { status: sold }) { name } }', { headers });
  await untilUnsent(16 * MIB, () => new Connection(post('/graphql', LARGE, headers).repeat(12)));
  expect(await ask(gateway, 'GET /pets?id=1', { headers })).toMatchObject({ status: 429 });
  finish();
  expect((await mutation).json.data).toEqual({ updatePet: { name: NAME } });
});

test('beyond 64 MiB in total, callers with unread responses get 503, other callers do not', async () => {
  const few = await gateway.createKey({ plan: 'ENTERPRISE', perMinute: 100_000, perDay: 1_000_000 });
  await untilUnsent(MIB, () => new Connection(post('/graphql', LARGE, few.headers).repeat(2)));
  const greedy = await Promise.all(
    times(5, () => gateway.createKey({ plan: 'ENTERPRISE', perMinute: 100_000, perDay: 1_000_000 })),
  );
  await untilUnsent(64 * MIB, () => {
    for (const { headers } of greedy) new Connection(post('/graphql', LARGE, headers).repeat(12));
  });
  const read = ({ headers }: TestKey) => ask(gateway, 'GET /pets?id=1', { headers });
  expect(await read(few)).toMatchObject({ status: 503, code: 'SERVICE_UNAVAILABLE' });
  expect(await read(key)).toMatchObject({ status: 200 });
  expect(await unsent()).toBeLessThan(100 * MIB);
});

const DESCRIBED = 'types { description fields { description } inputFields { description } enumValues { description } }';
/** Introspection whose answer is long: the kernel accepts only some of 32 answers. */
const INTROSPECTION = `{ ${times(8, (i) => `s${i}: __schema { ${DESCRIBED} }`).join(' ')} }`;
const SDL = `{ ${times(30, (i) => `s${i}: _service { sdl }`).join(' ')} }`;

test.each([
  ['_service', SDL, 0],
  ['introspection', INTROSPECTION, 12],
])(
  'a caller that does not read the free responses of a subgraph holds at most 22 MiB: pipelined %s',
  async (_what, query, least) => {
    const subgraph = await gateway.another({ SUBGRAPH: 'true' });
    const { port } = new URL(await subgraph.listen());
    try {
      const { headers } = key;
      expect((await ask(subgraph, query, { headers })).error).toBeUndefined();
      let most = 0;
      for (let i = 0; i < 40; i++) {
        new Connection(post('/graphql', query, headers).repeat(32), '127.0.0.1', Number(port));
        await sleep(100);
        most = Math.max(most, await subgraph.metric('unsent_bytes'));
        expect(await ask(subgraph, 'GET /pets?id=1')).toMatchObject({ status: 200 });
      }
      expect(most).toBeGreaterThanOrEqual(least * MIB);
      expect(most).toBeLessThan(22 * MIB);
    } finally {
      leave();
      await subgraph.close();
    }
  },
  60_000,
);

test('a slow reader gets its response whole', async () => {
  const connection = new Connection(post('/graphql', LARGE, { ...key.headers, Connection: 'close' }));
  const { socket } = connection;
  socket.on('data', () => {
    socket.pause();
    setTimeout(() => socket.resume(), 5);
  });
  socket.resume();
  const [response] = await connection.responses(1);
  expect(JSON.parse(response?.body ?? '').data.pets.nodes[99].n46).toBe(NAME);
});

test('a connection with unread responses takes no further requests until its client reads, and loses no response', async () => {
  const small = `GET /pets?id=1 HTTP/1.1\r\nHost: localhost\r\nX-API-Key: ${key.whole}\r\n\r\n`;
  const connection = new Connection(post('/graphql', LARGE, key.headers).repeat(2));
  await until(async () => (await unsent()) > 5 * MIB);
  for (let pair = 0; pair < 50; pair++) {
    connection.socket.write(small.repeat(2));
    await sleep(5);
  }
  const closed = once(connection.socket, 'close');
  connection.socket.resume();
  await closed;
  const responses = await connection.responses(2 + 32);
  expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 200));
  expect(responses.at(-1)?.headers.connection).toBe('close');
});

test('a file that many connections load counts once', async () => {
  const path = /\/assets\/\w+\/vendor\/swagger[\w.-]+js/.exec((await ask(gateway, 'GET /docs/rest')).text)?.[0];
  const request = `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
  for (let i = 0; i < 30; i++) new Connection(request.repeat(4), '127.0.0.7');
  await until(async () => (await unsent()) > 30 * 1024);
  expect(await unsent()).toBeLessThan(4 * MIB);
});

function times<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}
