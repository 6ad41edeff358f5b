import type { Change } from '../../src/database/database';
import type { Column, Table } from '../../src/database/reading/table';
import { RedisRelay, type RelayState } from '../../src/events/redis-relay';
import { connectForEvents } from '../../src/redis/redis-client';
import { REDIS_BINARY, RedisServer } from '../helper/redis-server';
import { TcpProxy } from '../helper/tcp-proxy';
import { until } from '../helper/until';
import { TOYS } from '../toys/toys';

interface Instance {
  readonly relay: RedisRelay;
  readonly heard: Change[];
  readonly states: RelayState[];
}

/** The columns of boxes have the names of columns of toys, but other kinds. */
const { id, name, madeAt: time } = TOYS.columns as Record<string, Column>;
const BOXES = { ...TOYS, columns: { id, name: time, madeAt: name }, relations: { toy: { table: () => TOYS } } };
const TOPICS = { toy: TOYS, box: BOXES } as unknown as Readonly<Record<string, Table<object>>>;

/** @param patienceMs the time limit for connecting, in milliseconds. The default suits busy machines. */
async function open(url: string, { hasSubscribers = true, patienceMs = 5000 } = {}): Promise<Instance> {
  const heard: Change[] = [];
  const states: RelayState[] = [];
  const connect = () => connectForEvents(url, patienceMs);
  const [publisher, subscriber] = await Promise.all([connect(), connect()]);
  const relay = new RedisRelay(publisher, subscriber, {
    topics: TOPICS,
    notify: (change) => heard.push(change),
    hasSubscribers: () => hasSubscribers,
    onMessage: () => undefined,
    onState: (state) => states.push(state),
    pingMs: 500,
  });
  await relay.start();
  return { relay, heard, states };
}

const CREATED: Change = { topic: 'toy', kind: 'CREATED', id: 9223372036854775807n };
const madeAt = new Date('0099-12-31T23:59:59.999Z');
const CHANGES: readonly Change[] = [
  CREATED,
  { ...CREATED, entry: { id: 9223372036854775807n, at: madeAt, requestId: '2026-01-01T00:00:00Z' }, owner: 'user:1' },
  { topic: 'toy', kind: 'UPDATED', id: 1n, before: { broken: true, id: 9007199254740993n } as object },
  {
    topic: 'toy',
    kind: 'DELETED',
    id: 1n,
    before: { id: 1n, name: '2026-01-01T00:00:00Z', broken: false, madeAt: null } as object,
  },
  {
    topic: 'box',
    kind: 'DELETED',
    id: 2n,
    before: { id: 2n, size: 3, name: madeAt, madeAt: '2026-01-01', toy: { id: 1n, name: '2026', madeAt } } as object,
  },
];

test('without Redis, the relay reports the state "alone", drops published changes, and can be closed', async () => {
  const { relay, states } = await open('redis://127.0.0.1:1', { patienceMs: 200 });
  relay.enqueue(CREATED);
  await until(async () => relay.lost === 1);
  expect(states).toEqual(['alone']);
  relay.close();
});

const withServer = REDIS_BINARY ? describe : describe.skip;

withServer('with Redis', () => {
  let server: RedisServer;
  let proxy: TcpProxy;
  const instances: Instance[] = [];
  beforeEach(async () => {
    server = await RedisServer.start(REDIS_BINARY ?? '');
    proxy = await TcpProxy.start(server.url);
  });
  afterEach(async () => {
    for (const { relay } of instances.splice(0)) relay.close();
    await proxy.close();
    await server.remove();
  });
  const start = async (url = server.url, hasSubscribers = true) => {
    const instance = await open(url, { hasSubscribers });
    instances.push(instance);
    return instance;
  };

  test('changes published just before a relay closes reach other instances unchanged, in one message', async () => {
    const [one, ...others] = [await start(), await start(), await start()];
    const deaf = await start(server.url, false);
    const elsewhere = await start(`${server.url}/4`);
    const watcher = await connectForEvents(server.url);
    let messages = 0;
    watcher.on('message', () => {
      messages += 1;
    });
    await watcher.subscribe('petstore:0:changes');
    for (const change of CHANGES) one.relay.enqueue(change);
    one.relay.close();
    await until(async () => messages > 0 && others.every(({ heard }) => heard.length >= CHANGES.length));
    for (const { heard } of others) expect(heard).toEqual(CHANGES);
    for (const { heard } of [one, deaf, elsewhere]) expect(heard).toEqual([]);
    expect(messages).toBe(1);
    watcher.disconnect();
  });

  test('a connection that responds is kept; while Redis is down, the state of each relay is "alone"', async () => {
    const [one, two] = [await start(), await start()];
    // Waits for more than three ping intervals. By then, a relay that got no response would have changed its state.
    await new Promise((resolve) => setTimeout(resolve, 1800));
    expect([one.states, two.states]).toEqual([[], []]);
    await server.kill();
    await until(async () => two.states.length === 1);
    one.relay.enqueue(CREATED);
    await until(async () => one.relay.lost === 1);
    await server.start();
    await until(async () => [one, two].every(({ relay }) => relay.state === 'connected'));
    one.relay.enqueue({ ...CREATED, id: 2n });
    await until(async () => two.heard.length > 0);
    expect(two.states).toEqual(['alone', 'connected']);
    expect(two.heard).toEqual([{ ...CREATED, id: 2n }]);
  });

  test('if Redis stops responding, the relay replaces both of its connections', async () => {
    const [one, two] = [await start(proxy.url), await start()];
    proxy.fallSilent();
    one.relay.enqueue(CREATED);
    await until(async () => one.relay.state === 'alone' && one.relay.lost === 1);
    proxy.speak();
    await until(async () => one.relay.state === 'connected');
    two.relay.enqueue(CREATED);
    await until(async () => one.heard.length === 1);
    await until(async () => {
      one.relay.enqueue({ ...CREATED, id: 2n });
      return two.heard.some(({ id }) => id === 2n);
    });
    expect(one.states).toEqual(['alone', 'connected']);
  });

  test('a connection that stops responding right after reconnecting does not crash the process', async () => {
    const client = await connectForEvents(proxy.url, 5000);
    await client.subscribe('changes');
    let lost = 0;
    client.on('close', () => {
      lost += 1;
    });
    client.once('ready', () => {
      proxy.fallSilent();
      setImmediate(() => client.disconnect(true));
    });
    proxy.resetAll();
    await until(async () => lost === 2);
    client.disconnect();
  });
});
