import type { Change } from '../../src/database/changes';
import { RedisRelay, type RelayState } from '../../src/events/redis-relay';
import { connectToPublish } from '../../src/redis/publishing-client';
import { REDIS_BINARY, RedisServer } from '../helper/redis-server';
import { TcpProxy } from '../helper/tcp-proxy';
import { until } from '../helper/until';

interface Instance {
  readonly relay: RedisRelay;
  readonly heard: Change[];
  readonly states: RelayState[];
}

/** @param patienceMs how long to wait for a connection: a busy machine takes longer. */
async function open(url: string, isHeard = true, patienceMs = 5000): Promise<Instance> {
  const heard: Change[] = [];
  const states: RelayState[] = [];
  const [publisher, subscriber] = await Promise.all([
    connectToPublish(url, patienceMs),
    connectToPublish(url, patienceMs),
  ]);
  const relay = new RedisRelay(publisher, subscriber, {
    notify: (change) => heard.push(change),
    isHeard: () => isHeard,
    onState: (state) => states.push(state),
    pingMs: 500,
  });
  await relay.start();
  return { relay, heard, states };
}

const CHANGES: Change[] = [
  { topic: 'pet', kind: 'CREATED', id: 9223372036854775807n },
  { topic: 'pet', kind: 'UPDATED', id: 1n, before: { status: 'sold', categoryId: 9007199254740993n } },
  {
    topic: 'pet',
    kind: 'DELETED',
    id: 1n,
    before: { id: 1n, name: '2026-01-01T00:00:00Z', status: 'sold', categoryId: 2n },
  },
  {
    topic: 'order',
    kind: 'DELETED',
    id: 2n,
    before: {
      id: 2n,
      petId: null,
      quantity: 3,
      shipDate: new Date('0099-12-31T23:59:59.999Z'),
      complete: false,
    },
  },
];

test('without Redis it says so, publishing does not fail, and closing ends', async () => {
  const { relay, states } = await open('redis://127.0.0.1:1', true, 200);
  relay.publish({ topic: 'pet', kind: 'CREATED', id: 1n });
  await until(async () => relay.lost === 1);
  expect(states).toEqual(['alone']);
  relay.close();
});

if (REDIS_BINARY) {
  let server: RedisServer;
  const instances: Instance[] = [];
  beforeEach(async () => {
    server = await RedisServer.start(REDIS_BINARY as string);
  });
  afterEach(async () => {
    for (const { relay } of instances.splice(0)) relay.close();
    await server.remove();
  });
  const start = async (path = '', isHeard = true) => {
    const instance = await open(server.url + path, isHeard);
    instances.push(instance);
    return instance;
  };

  test('the others receive a change exactly as published, and the publisher does not', async () => {
    const [one, two, three] = [await start(), await start(), await start()];
    for (const change of CHANGES) one.relay.publish(change);
    for (const { heard } of [two, three]) {
      await until(async () => heard.length === CHANGES.length);
      expect(heard).toEqual(CHANGES);
    }
    expect(one.heard).toEqual([]);
    expect(two.states).toEqual([]);
  });

  test('changes published together go in one message, which instances without listeners ignore', async () => {
    const [one, two, deaf] = [await start(), await start(), await start('', false)];
    const watcher = await connectToPublish(server.url);
    let messages = 0;
    watcher.on('message', () => {
      messages += 1;
    });
    await watcher.subscribe('petstore:0:changes');
    for (const change of CHANGES) one.relay.publish(change);
    await until(async () => two.heard.length === CHANGES.length && messages > 0);
    expect(messages).toBe(1);
    expect(deaf.heard).toEqual([]);
    watcher.disconnect();
  });

  test('closing sends what was not sent yet', async () => {
    const [one, two] = [await start(), await start()];
    one.relay.publish(CHANGES[0] as Change);
    one.relay.close();
    await until(async () => two.heard.length === 1);
  });

  test('instances on another database of the same Redis receive nothing', async () => {
    const [one, same, other] = [await start('/3'), await start('/3'), await start('/4')];
    one.relay.publish(CHANGES[0] as Change);
    await until(async () => same.heard.length === 1);
    expect(other.heard).toEqual([]);
  });

  test('when Redis goes away each is alone, and says so; once it is back they are connected again', async () => {
    const [one, two] = [await start(), await start()];
    await server.kill();
    await until(async () => two.states.length === 1);
    one.relay.publish(CHANGES[0] as Change);
    await until(async () => one.relay.lost === 1);
    await server.start();
    await until(async () => [one, two].every(({ relay }) => relay.state === 'connected'));
    one.relay.publish(CHANGES[1] as Change);
    await until(async () => two.heard.length === 1);
    expect(two.states).toEqual(['alone', 'connected']);
    expect(two.heard).toEqual([CHANGES[1]]);
  });

  test('when Redis falls silent, each connection to it is given up and replaced', async () => {
    const proxy = await TcpProxy.start(server.url);
    try {
      const [one, two] = [await open(proxy.url), await start()];
      instances.push(one);
      proxy.fallSilent();
      one.relay.publish(CHANGES[0] as Change);
      await until(async () => one.relay.state === 'alone' && one.relay.lost === 1);
      proxy.speak();
      await until(async () => one.relay.state === 'connected');
      two.relay.publish(CHANGES[1] as Change);
      await until(async () => one.heard.length === 1);
      await until(async () => {
        one.relay.publish(CHANGES[2] as Change);
        return two.heard.some(({ kind }) => kind === 'DELETED');
      });
      expect(one.states).toEqual(['alone', 'connected']);
    } finally {
      await proxy.close();
    }
  });

  test('a connection that falls silent right after reconnecting does not end the process', async () => {
    const proxy = await TcpProxy.start(server.url);
    const client = await connectToPublish(proxy.url, 5000);
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
    await proxy.close();
  });

  test('a connection that responds is kept', async () => {
    const one = await start();
    await new Promise((resolve) => setTimeout(resolve, 1800));
    expect(one.states).toEqual([]);
  });
}
