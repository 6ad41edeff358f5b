import { RedisSentinels } from '../helper/redis-sentinels';
import { REDIS_BINARY, type RedisServer } from '../helper/redis-server';
import { until } from '../helper/until';
import { RULES, SENTINEL_RULES } from './documented-user';
import { allowed, Instance } from './instance';

const onOwnServers = REDIS_BINARY ? describe : describe.skip;

onOwnServers('a master and its replica, found through three Sentinels', () => {
  let redis: RedisSentinels;
  let instances: Instance[];
  beforeAll(async () => {
    redis = await RedisSentinels.start(REDIS_BINARY ?? '');
    instances = [await Instance.start(redis.url()), await Instance.start(redis.url())];
  });
  afterAll(async () => {
    await Promise.all(instances.map((instance) => instance.close()));
    await redis.remove();
  });

  test('limits are exact over two instances, and each hears the changes of the other', async () => {
    const [one, other] = instances as [Instance, Instance];
    expect(await allowed(instances, 'exact', 100)).toBe(60);
    one.relay.publish({ topic: 'pet', kind: 'CREATED', id: 1n });
    await until(async () => other.heard.length === 1);
  });

  test('the documented users may do all of that, and nothing is denied to them', async () => {
    for (const server of redis.servers) await server.ask(['ACL', 'SETUSER', 'petstore', ...RULES]);
    const rules = ['on', '>other', ...SENTINEL_RULES];
    for (const sentinel of redis.sentinels) await sentinel.ask(['ACL', 'SETUSER', 'watcher', ...rules]);
    const users = 'sentinel_username=watcher&sentinel_password=other';
    const restricted = await Instance.start(`${redis.url('petstore:secret@')}?${users}`);
    expect(await allowed([restricted], 'acl', 61)).toBe(60);
    await restricted.close();
    for (const server of [...redis.servers, ...redis.sentinels]) expect(await server.ask(['ACL', 'LOG'])).toBe('');
  });

  test('a planned failover keeps what was counted', async () => {
    expect(await allowed(instances, 'planned', 20)).toBe(20);
    await redis.failOver();
    const master = await redis.master();
    await until(async () => (await connectionsTo(master)) === instances.length * 3, 30);
    await until(async () => {
      await allowed(instances, 'other', 2);
      return instances.every(({ isShared }) => isShared);
    }, 30);
    expect(await allowed(instances, 'planned', 60)).toBe(40);
    const [one, other] = instances as [Instance, Instance];
    const before = other.heard.length;
    one.relay.publish({ topic: 'pet', kind: 'CREATED', id: 2n });
    await until(async () => other.heard.length === before + 1);
  });
});

/** How many connections of gateways a server has. */
async function connectionsTo(server: RedisServer): Promise<number> {
  return (await server.ask(['CLIENT', 'LIST'])).match(/ name=(rate-limit|events) /g)?.length ?? 0;
}
