import { once } from 'node:events';
import { request } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient, GRAPHQL_TRANSPORT_WS_PROTOCOL } from 'graphql-ws';
import { WebSocket } from 'ws';
import { Meter } from '../../../src/rate-limit/meter';
import { fillShop } from '../../helper/database';
import { type Gateway, type Json, startGateway, type TestKey } from '../../helper/gateway';
import { Received, running, socketClient } from '../../helper/live';
import { until } from '../../helper/until';

/** Operations end with `complete` and with their connection, and their ids may then be used again. */

const LIMIT_MS = 2_000;
const MOST = 10;
const PETS = 'subscription { petChanged { kind petId } }';
const CATEGORIES = 'subscription { petChanged { kind petId pet { category { name } } } }';
const LARGE = `subscription { petChanged { pet { ${Array.from({ length: 200 }, (_, i) => `f${i}: name`).join(' ')} } } }`;
const pet = (id: number) => `{ pet(id: ${id}) { id } }`;
const INIT = { type: 'connection_init' };
const PING = { type: 'ping' };
const subscribe = (id: string, query = PETS) => ({ id, type: 'subscribe', payload: { query } });
const complete = (id: string) => ({ id, type: 'complete' });
const result = (id: string, petId: number) => ({ id, type: 'next', payload: { data: { pet: { id: String(petId) } } } });
const event = (id: string, petId = 1) => ({
  id,
  type: 'next',
  payload: { data: { petChanged: { kind: 'UPDATED', petId: String(petId) } } },
});

let gateway: Gateway;
let url: string;
let key: TestKey;
const logged: unknown[] = [];
const connections: Connection[] = [];
beforeAll(async () => {
  gateway = await startGateway({
    MAX_SUBSCRIPTIONS_PER_CALLER: String(MOST),
    REQUEST_TIMEOUT_MS: String(LIMIT_MS),
  });
  url = await gateway.listen();
  jest.spyOn(gateway.server.log, 'error').mockImplementation((...told: unknown[]) => void logged.push(told));
});
beforeEach(async () => {
  await fillShop(gateway.database);
  key = await gateway.createKey();
});
afterEach(async () => {
  for (const connection of connections.splice(0)) connection.socket.terminate();
  await expectNothingLeft();
});
afterAll(async () => {
  await gateway.close();
  expect(logged).toEqual([]);
});

/** A WebSocket connection without a client library. */
class Connection {
  readonly received: Json[] = [];
  closed: [code: number, reason: string] | undefined;

  private constructor(
    readonly socket: WebSocket,
    private readonly connection: Socket,
  ) {
    socket.on('message', (data) => this.received.push(JSON.parse(String(data))));
    socket.on('close', (code, reason) => {
      this.closed = [code, String(reason)];
    });
    connections.push(this);
  }

  /** Connects, and sends `connection_init`. */
  static async open(target = url): Promise<Connection> {
    const { headers } = key;
    const socket = new WebSocket(`${target.replace('http', 'ws')}/graphql`, GRAPHQL_TRANSPORT_WS_PROTOCOL, { headers });
    const [[response]] = await Promise.all([once(socket, 'upgrade'), once(socket, 'open')]);
    const connection = new Connection(socket, response.socket);
    connection.send(INIT);
    await until(() => connection.received.length === 1);
    connection.received.length = 0;
    return connection;
  }

  /** Sends messages in one packet, so that the server reads the last one before it has handled the first one. */
  send(...messages: object[]): void {
    this.connection.cork();
    for (const message of messages) this.socket.send(JSON.stringify(message));
    this.connection.uncork();
  }

  /** Waits until the server has handled all messages sent before, and has sent what they cause at once. */
  async settled(): Promise<Json[]> {
    const pongs = () => this.received.filter(({ type }) => String(type) === 'pong').length;
    const before = pongs();
    this.send(PING);
    await until(() => pongs() > before);
    await sleep(50);
    return this.received.filter(({ type }) => String(type) !== 'pong');
  }

  async untilClosed(): Promise<[number, string]> {
    await until(() => this.closed !== undefined);
    return this.closed ?? [0, ''];
  }
}

const untilRunning = (count: number, of = gateway) => until(async () => (await running(of)) === count);

/** Reports a change of a pet. @returns the number of subscriptions that have got the event. */
async function change(petId = 1): Promise<number> {
  const before = await gateway.metric('events_delivered_total');
  gateway.database.notifyListeners({ topic: 'pet', kind: 'UPDATED', id: BigInt(petId) });
  await sleep(100);
  return (await gateway.metric('events_delivered_total')) - before;
}

/** No subscription is left, and the caller may run as many operations as before. */
async function expectNothingLeft(): Promise<void> {
  await untilRunning(0);
  expect(await change()).toBe(0);
  const client = socketClient(url, key.headers);
  const all = Array.from({ length: MOST }, () => client.subscribe(PETS));
  await until(async () => (await running(gateway)) === MOST || all.some(({ error }) => error !== undefined));
  expect(all.map(({ error }) => error)).toEqual(all.map(() => undefined));
  client.close();
  await untilRunning(0);
}

/** Delays the start of all operations of the caller, as a slow Redis would. */
function holdStarts() {
  let waiting = 0;
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const { charge: take } = Meter.prototype;
  const spy = jest.spyOn(Meter.prototype, 'charge').mockImplementation(async function (this: Meter, kind, requests) {
    if (kind === 'counted' && this.subject.id.includes(key.id)) {
      waiting += 1;
      await held;
    }
    return take.call(this, kind, requests);
  });
  return {
    until: (count: number) => until(() => waiting >= count),
    release: async () => {
      spy.mockRestore();
      release();
      await sleep(50);
    },
  };
}

/** Delays the statements that read categories. */
function holdCategories() {
  let waiting = 0;
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const { query } = gateway.database;
  const spy = jest.spyOn(gateway.database, 'query').mockImplementation(async (statement, ...rest) => {
    if (statement.text.includes('categories')) {
      waiting += 1;
      await held;
    }
    return query.call(gateway.database, statement, ...rest);
  });
  return {
    until: (count: number) => until(() => waiting >= count),
    release: async () => {
      spy.mockRestore();
      release();
      await sleep(50);
    },
  };
}

/** Opens an event stream. @returns a function that disconnects, and a promise of the end of the response. */
function openStream(target = url, query = PETS) {
  const headers = { 'content-type': 'application/json', accept: 'text/event-stream', ...key.headers };
  const sent = request(`${target}/graphql/stream`, { method: 'POST', headers, agent: false });
  const ended = new Promise<{ status?: number; text: string }>((resolve) => {
    sent.on('error', () => resolve({ text: 'disconnected' }));
    sent.on('response', async (response) => {
      let text = '';
      response.on('data', (data) => {
        text += data;
      });
      response.on('close', () => resolve({ status: response.statusCode, text }));
      response.on('error', () => undefined);
    });
  });
  sent.end(JSON.stringify({ query }));
  return { leave: () => sent.destroy(), ended };
}

describe('an id may be used again at once after `complete`', () => {
  test('of a subscription that is starting: each event is sent once, and none after the next `complete`', async () => {
    const connection = await Connection.open();
    connection.send(subscribe('a'), complete('a'), subscribe('a'));
    await untilRunning(1);
    expect(await change()).toBe(1);
    expect(await connection.settled()).toEqual([event('a')]);
    connection.send(complete('a'));
    await untilRunning(0);
    expect(await change()).toBe(0);
    expect(await connection.settled()).toEqual([event('a')]);
  });

  test('of a running subscription: the new subscription gets no `complete`, and ends with its own', async () => {
    const connection = await Connection.open();
    for (let i = 0; i <= MOST; i++) {
      connection.send(...(i ? [complete('a')] : []), subscribe('a'));
      await connection.settled();
      expect(await running(gateway)).toBe(1);
    }
    expect(await change()).toBe(1);
    expect(await connection.settled()).toEqual([event('a')]);
    connection.send(complete('a'));
    await untilRunning(0);
  });

  test('of a subscription whose event is being computed: the event is not sent to the new subscription', async () => {
    const connection = await Connection.open();
    connection.send(subscribe('a', CATEGORIES));
    await untilRunning(1);
    const held = holdCategories();
    await change(1);
    await held.until(1);
    connection.send(complete('a'), subscribe('a'));
    await connection.settled();
    await held.release();
    expect(await change(2)).toBe(1);
    expect(await connection.settled()).toEqual([event('a', 2)]);
    connection.send(complete('a'));
    await untilRunning(0);
  });

  test('of a query: only the result of the new query is sent', async () => {
    const connection = await Connection.open();
    connection.send(subscribe('a', pet(1)), complete('a'), subscribe('a', pet(2)));
    await until(async () => (await connection.settled()).length >= 2);
    expect(await connection.settled()).toMatchObject([result('a', 2), complete('a')]);
  });

  test('of a query that is replaced by a subscription, and of a subscription that is replaced by a query', async () => {
    const connection = await Connection.open();
    connection.send(subscribe('a', pet(1)), complete('a'), subscribe('a'));
    connection.send(subscribe('b'), complete('b'), subscribe('b', pet(2)));
    await untilRunning(1);
    expect(await change()).toBe(1);
    const received = await connection.settled();
    expect(received.filter(({ id }) => String(id) === 'a')).toEqual([event('a')]);
    expect(received.filter(({ id }) => String(id) === 'b')).toMatchObject([result('b', 2), complete('b')]);
  });

  test('of an operation whose start is slow: only the last start counts', async () => {
    const connection = await Connection.open();
    const held = holdStarts();
    connection.send(subscribe('a'), complete('a'), subscribe('a', pet(1)), complete('a'), subscribe('a'));
    await held.until(3);
    await held.release();
    await untilRunning(1);
    expect(await change()).toBe(1);
    expect(await connection.settled()).toEqual([event('a')]);
  });

  test('of a subscription of a graphql-ws client that uses the same id for all subscriptions', async () => {
    const client = createClient({
      url: `${url.replace('http', 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      connectionParams: key.headers,
      retryAttempts: 0,
      lazy: false,
      generateID: () => 'a',
    });
    await new Promise<void>((resolve) => client.on('connected', () => resolve()));
    const open = () => new Received((sink) => client.subscribe({ query: PETS }, sink));
    const left = Array.from({ length: MOST + 1 }, () => {
      const received = open();
      received.stop();
      return received;
    });
    const last = open();
    await untilRunning(1);
    expect(await change()).toBe(1);
    await last.until(1);
    expect([...left, last].map(({ answers }) => answers.length)).toEqual([...left.map(() => 0), 1]);
    expect(last.error).toBeUndefined();
    await client.dispose();
  });

  test('with pings between all messages, which are all answered', async () => {
    const connection = await Connection.open();
    const pings = Array.from({ length: 20 }, () => PING);
    connection.send(subscribe('a'), ...pings, complete('a'), ...pings, subscribe('a'));
    await untilRunning(1);
    expect(await change()).toBe(1);
    expect(await connection.settled()).toEqual([event('a')]);
    expect(connection.received).toHaveLength(42);
  });
});

describe('an id may be used again after the server has sent', () => {
  test.each([
    ['`complete`', pet(1), 'complete'],
    ['`error`', 'nonsense', 'error'],
  ])('%s', async (_name, query, last) => {
    const connection = await Connection.open();
    const ends = () => connection.received.filter(({ type }) => String(type) === last).length;
    for (let i = 1; i <= 10; i++) {
      connection.send(subscribe('a', query));
      await until(() => ends() === i);
    }
    connection.send(subscribe('a'));
    await untilRunning(1);
    expect(await change()).toBe(1);
    expect(connection.closed).toBeUndefined();
  });

  test('`complete` because the subscription has failed', async () => {
    const connection = await Connection.open();
    connection.send(subscribe('a'));
    await untilRunning(1);
    const failing = jest.spyOn(gateway.database, 'query').mockRejectedValueOnce(new Error('failed'));
    await change();
    await until(() => connection.received.length === 2);
    failing.mockRestore();
    expect(connection.received).toMatchObject([{ id: 'a', type: 'next', payload: { errors: [{}] } }, complete('a')]);
    logged.length = 0;
    connection.send(subscribe('a'));
    await untilRunning(1);
    expect(await change()).toBe(1);
  });
});

test('operations are independent in any order of `subscribe` and `complete`', async () => {
  const connection = await Connection.open();
  const ids = ['a', 'b', '__proto__'];
  const open = new Set<string>();
  // A linear congruential generator, so that each run of the test sends the same messages.
  let seed = 7;
  const next = (most: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return (seed >> 8) % most;
  };
  for (let round = 0; round < 8; round++) {
    const messages = Array.from({ length: 6 }, () => {
      const id = ids[next(ids.length)] as string;
      const wasOpen = open.delete(id);
      if (!wasOpen) open.add(id);
      return wasOpen ? complete(id) : subscribe(id);
    });
    connection.send(...messages);
    await untilRunning(open.size);
    await connection.settled();
    connection.received.splice(0);
    expect(await change()).toBe(open.size);
    const got = (await connection.settled()).map(({ id }) => String(id));
    expect(got.sort()).toEqual([...open].sort());
  }
});

test('`complete` of an unknown id, and a second `complete`, change nothing', async () => {
  const connection = await Connection.open();
  connection.send(complete('x'), subscribe('a'), complete('y'), subscribe('b'), complete('b'), complete('b'));
  await untilRunning(1);
  expect(await change()).toBe(1);
  expect(await connection.settled()).toEqual([event('a')]);
});

test('an operation of any kind gets no message once the client has completed it', async () => {
  const connection = await Connection.open();
  const mutation = 'mutation { createCategory(input: { name: "Fish" }) { id } }';
  for (const query of [PETS, pet(1), mutation, 'nonsense']) connection.send(subscribe('a', query), complete('a'));
  await connection.settled();
  await untilRunning(0);
  expect(await connection.settled()).toEqual([]);
});

describe('a second `subscribe` with the id of an operation', () => {
  test.each<[name: string, id: string, reason: string, isStarting: boolean]>([
    ['that is running', 'a', 'Subscriber for a already exists', false],
    ['that is starting', 'a', 'Subscriber for a already exists', true],
    ['with a long id', 'é'.repeat(60), 'Subscriber already exists', false],
  ])('%s closes the connection with 4409, and ends all operations of the connection', async (...[, id, reason, is]) => {
    const connection = await Connection.open();
    const held = is ? holdStarts() : undefined;
    connection.send(subscribe(id), subscribe('b'));
    if (held) await held.until(2);
    else await untilRunning(2);
    // The client does not answer the close frame.
    connection.socket.pause();
    connection.send(subscribe(id));
    await held?.release();
    await untilRunning(0);
    expect(await change()).toBe(0);
    connection.socket.resume();
    expect(await connection.untilClosed()).toEqual([4409, reason]);
  });
});

describe('nothing outlives its connection', () => {
  const LEAVING: [name: string, leave: (connection: Connection) => void][] = [
    ['closes the connection', ({ socket }) => socket.close()],
    ['resets the connection', ({ socket }) => socket.terminate()],
  ];

  test.each(LEAVING)('if the client %s while operations start', async (_name, leave) => {
    const connection = await Connection.open();
    const held = holdStarts();
    connection.send(subscribe('a'), complete('a'), subscribe('a'), subscribe('b', pet(1)));
    await held.until(3);
    leave(connection);
    await connection.untilClosed();
    await sleep(50);
    await held.release();
    expect(await running(gateway)).toBe(0);
    expect(await change()).toBe(0);
  });

  test.each(LEAVING)('if the client %s at once after `subscribe`', async (_name, leave) => {
    for (let i = 0; i <= MOST; i++) {
      const connection = await Connection.open();
      connection.send(subscribe('a'), complete('a'), subscribe('a'));
      leave(connection);
      await connection.untilClosed();
    }
    await untilRunning(0);
    expect(await change()).toBe(0);
  });

  test.each(LEAVING)('if the client %s while an event is computed', async (_name, leave) => {
    const connection = await Connection.open();
    connection.send(subscribe('a', CATEGORIES), subscribe('b', CATEGORIES));
    await untilRunning(2);
    const held = holdCategories();
    await change();
    await held.until(1);
    leave(connection);
    await untilRunning(0);
    await held.release();
    expect(await change()).toBe(0);
  });

  test('if a client that does not read completes an operation, and uses its id again', async () => {
    const connection = await Connection.open();
    await gateway.data('mutation ($name: String!) { updatePet(id: 1, input: { name: $name }) { id } }', {
      name: '🐕'.repeat(255),
    });
    connection.send(subscribe('a', LARGE));
    await untilRunning(1);
    connection.socket.pause();
    for (let i = 0; i < 40; i++) gateway.database.notifyListeners({ topic: 'pet', kind: 'UPDATED', id: 1n });
    await sleep(500);
    connection.send(complete('a'), subscribe('a'));
    await sleep(100);
    expect(await running(gateway)).toBe(1);
    expect(await change(2)).toBe(1);
    connection.socket.resume();
    await until(() => connection.received.some(({ payload }) => payload?.data?.petChanged?.petId !== undefined));
    connection.received.splice(0);
    expect(await change(2)).toBe(1);
    expect(await connection.settled()).toEqual([event('a', 2)]);
  });
});

describe('over event streams, nothing outlives its connection', () => {
  test('if clients leave while their subscriptions start, and reconnect at once', async () => {
    const held = holdStarts();
    const left = Array.from({ length: MOST }, () => openStream());
    await held.until(MOST);
    for (const stream of left) stream.leave();
    await sleep(50);
    await held.release();
    expect(await running(gateway)).toBe(0);
    const again = Array.from({ length: MOST }, () => openStream());
    await untilRunning(MOST);
    expect(await change()).toBe(MOST);
    for (const stream of again) stream.leave();
    await untilRunning(0);
  });

  test('if a subscription starts only after its request was rejected as too slow', async () => {
    const held = holdStarts();
    const stream = openStream();
    await held.until(1);
    expect(await stream.ended).toMatchObject({ status: 503 });
    await held.release();
    expect(await running(gateway)).toBe(0);
    expect(await change()).toBe(0);
  });
});

test('when a key is revoked while a subscription starts, the subscription ends, and the others are not affected', async () => {
  const revoked = key;
  const connection = await Connection.open();
  const held = holdStarts();
  connection.send(subscribe('a'), complete('a'), subscribe('a'));
  await held.until(2);
  await gateway.data('mutation ($id: ID!) { revokeApiKey(id: $id) { id } }', { id: revoked.id });
  await held.release();
  await until(() => connection.received.length === 2);
  expect(connection.received).toMatchObject([
    { id: 'a', payload: { errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] } },
    complete('a'),
  ]);
  await untilRunning(0);
  expect(await change()).toBe(0);
  key = await gateway.createKey();
});

test('on shutdown, subscriptions that are starting end over each protocol', async () => {
  const instance = await gateway.another();
  const target = await instance.listen();
  const connection = await Connection.open(target);
  const held = holdStarts();
  connection.send(subscribe('a'), complete('a'), subscribe('a'));
  const stream = openStream(target);
  await held.until(3);
  const closing = instance.server.close();
  await sleep(100);
  await held.release();
  const begun = performance.now();
  expect(await stream.ended).toMatchObject({ status: 200, text: ':\n\n' });
  expect(await connection.untilClosed()).toEqual([1001, 'Going away']);
  await closing;
  expect(performance.now() - begun).toBeLessThan(LIMIT_MS);
});
