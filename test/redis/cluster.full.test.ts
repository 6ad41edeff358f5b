import { RedisCluster } from '../helper/redis-cluster';
import { REDIS_BINARY } from '../helper/redis-server';
import { until } from '../helper/until';
import { CLUSTER_RULES, RULES } from './documented-user';
import { allowed, Instance } from './instance';

const onOwnServers = REDIS_BINARY ? describe : describe.skip;

onOwnServers('a cluster of three masters and their replicas', () => {
  let redis: RedisCluster;
  let instances: Instance[];
  beforeAll(async () => {
    redis = await RedisCluster.start(REDIS_BINARY ?? '');
    instances = [await Instance.start(redis.url()), await Instance.start(redis.url())];
  });
  afterAll(async () => {
    await Promise.all(instances.map((instance) => instance.close()));
    await redis.remove();
  });

  test('limits are exact over two instances, on every node', async () => {
    const ids = Array.from({ length: 12 }, (_, i) => `exact-${i}`);
    const nodes = await Promise.all(ids.map((id) => redis.nodeOf(`ratelimit:{${id}}`)));
    expect(new Set(nodes).size).toBe(3);
    expect(await Promise.all(ids.map((id) => allowed(instances, id, 100)))).toEqual(ids.map(() => 60));
  });

  test('each hears the changes of the other, whichever nodes they are connected to', async () => {
    const [one, other] = instances as [Instance, Instance];
    one.relay.publish({ topic: 'pet', kind: 'CREATED', id: 1n });
    other.relay.publish({ topic: 'pet', kind: 'CREATED', id: 2n });
    await until(async () => one.heard.length === 1 && other.heard.length === 1);
  });

  test('a gateway has one connection to each master, and two for events', async () => {
    const lists = await Promise.all(redis.nodes.map((node) => node.ask(['CLIENT', 'LIST'])));
    const names = lists.join('\n').match(/(?<= name=)(rate-limit|events)(?= )/g) ?? [];
    expect(names.filter((name) => name === 'events')).toHaveLength(instances.length * 2);
    expect(names.filter((name) => name === 'rate-limit')).toHaveLength(instances.length * 3);
  });

  test('whatever is kept of a caller is in one slot, and expires', async () => {
    const slot = await redis.ask(await redis.nodeOf('x'), 'CLUSTER', 'KEYSLOT', 'exact-0');
    expect(await redis.ask(await redis.nodeOf('x'), 'CLUSTER', 'KEYSLOT', 'wrote:{exact-0}')).toBe(slot);
    for (const node of redis.nodes.slice(0, 3)) {
      const keys = (await redis.ask(node, 'KEYS', '*')) as string[];
      expect(keys.length).toBeGreaterThan(0);
      for (const key of keys) expect(Number(await redis.ask(node, 'PTTL', key))).toBeGreaterThan(0);
    }
  });

  test('the documented user may do all of that, and nothing is denied to it', async () => {
    const rules = [...RULES, ...CLUSTER_RULES];
    for (const node of redis.nodes) await node.ask(['ACL', 'SETUSER', 'petstore', ...rules]);
    const restricted = await Instance.start(redis.url('petstore:secret@'));
    for (const id of ['acl-1', 'acl-2', 'acl-3', 'acl-4']) expect(await allowed([restricted], id, 61)).toBe(60);
    restricted.relay.publish({ topic: 'pet', kind: 'CREATED', id: 3n });
    await until(async () => instances.every(({ heard }) => heard.some(({ id }) => id === 3n)));
    await restricted.close();
    for (const node of redis.nodes) expect(await node.ask(['ACL', 'LOG'])).toBe('');
  });

  test('a planned failover keeps what was counted, and no request notices', async () => {
    expect(await allowed(instances, 'planned', 20)).toBe(20);
    const replica = await redis.nodeOf('ratelimit:{planned}', 'replica');
    await redis.ask(replica, 'CLUSTER', 'FAILOVER');
    await until(async () => (await redis.nodeOf('ratelimit:{planned}')) === replica);
    expect(await allowed(instances, 'planned', 60)).toBe(40);
    expect(instances.every(({ isShared }) => isShared)).toBe(true);
  });
});
