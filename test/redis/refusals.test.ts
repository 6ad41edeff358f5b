import { openRedis } from '../../src/composition/open-redis';
import { startGateway } from '../helper/gateway';
import { REDIS_BINARY, RedisServer } from '../helper/redis-server';
import { until } from '../helper/until';
import { RULES, userWith } from './documented-user';

if (REDIS_BINARY) {
  const servers: RedisServer[] = [];
  const keep = (server: RedisServer): RedisServer => {
    servers.push(server);
    return server;
  };
  const start = async (...options: string[]) => keep(await RedisServer.start(REDIS_BINARY ?? '', options));
  const startSentinel = async (...lines: string[]) => keep(await RedisServer.startSentinel(REDIS_BINARY ?? '', lines));
  afterAll(() => Promise.all(servers.map((server) => server.remove())));

  /** Why a gateway does not start with this REDIS_URL. */
  async function refusal(url: string): Promise<string> {
    try {
      (await openRedis(url)).disconnect();
      return 'it starts';
    } catch (error) {
      return (error as Error).message;
    }
  }

  describe('the start stops, and says why without the password, for', () => {
    let guarded: RedisServer;
    let node: RedisServer;
    let sentinel: RedisServer;
    beforeAll(async () => {
      guarded = await start('--requirepass', 'secret', ...userWith(RULES));
      node = await start('--cluster-enabled', 'yes');
      sentinel = await startSentinel(`sentinel monitor shop 127.0.0.1 ${guarded.port} 1`);
    });

    test.each<[string, () => string, () => string]>([
      ['a missing password', () => guarded.url, () => `${guarded.host} refuses: NOAUTH Authentication required`],
      [
        'a wrong password',
        () => `redis://:hunter2@${guarded.host}`,
        () => `${guarded.host} refuses: WRONGPASS invalid username-password pair or user is disabled`,
      ],
      [
        'a wrong user',
        () => `redis://hunter2:secret@${guarded.host}`,
        () => `${guarded.host} refuses: WRONGPASS invalid username-password pair or user is disabled`,
      ],
      [
        'a database that does not exist',
        () => `redis://:secret@${guarded.host}/16`,
        () => `${guarded.host} refuses: ERR DB index is out of range`,
      ],
      [
        'a node of a cluster as a server',
        () => node.url,
        () => `${node.host} is a node of a cluster: write redis+cluster://${node.host}`,
      ],
      [
        'a Sentinel as a server',
        () => sentinel.url,
        () => `${sentinel.host} is a Sentinel: write redis+sentinel://${sentinel.host}/<name of the master>`,
      ],
      [
        'a Sentinel as a node of a cluster',
        () => `redis+cluster://${sentinel.host}`,
        () => `${sentinel.host} is a Sentinel: write redis+sentinel://${sentinel.host}/<name of the master>`,
      ],
      [
        'a server as a node of a cluster',
        () => `redis+cluster://:secret@${guarded.host}`,
        () => `${guarded.host} is not a node of a cluster`,
      ],
      [
        'a server as a Sentinel',
        () => `redis+sentinel://127.0.0.1:1,${node.host}/shop?sentinel_password=hunter2`,
        () => `${node.host} is not a Sentinel`,
      ],
      [
        'a master that the Sentinels do not know',
        () => `redis+sentinel://127.0.0.1:1,${sentinel.host}/store`,
        () => `the Sentinel at ${sentinel.host} does not know a master store`,
      ],
      [
        'a wrong password of a master behind Sentinels',
        () => `redis+sentinel://:hunter2@${sentinel.host}/shop`,
        () => `${guarded.host} refuses: WRONGPASS invalid username-password pair or user is disabled`,
      ],
    ])('%s', async (_what, url, message) => {
      expect(await refusal(url())).toBe(`REDIS_URL: ${message()}`);
    });

    test('a Sentinel that needs a password of its own', async () => {
      const closed = await startSentinel(`sentinel monitor shop 127.0.0.1 ${guarded.port} 1`, 'requirepass other');
      const url = `redis+sentinel://:secret@${closed.host}/shop`;
      expect(await refusal(url)).toBe(`REDIS_URL: ${closed.host} refuses: NOAUTH Authentication required`);
      expect(await refusal(`${url}?sentinel_password=other`)).toBe('it starts');
    });
  });

  test('a user with the documented permissions can do everything that a gateway does', async () => {
    const server = await start(...userWith(RULES));
    const url = `redis://petstore:secret@${server.host}/1`;
    const gateway = await startGateway({ REDIS_URL: url });
    const key = await gateway.createKey();
    expect((await gateway.app.inject({ url: '/pets', headers: key.headers })).statusCode).toBe(200);
    expect((await gateway.app.inject({ url: '/rate_limit', headers: key.headers })).statusCode).toBe(200);
    expect((await gateway.app.inject({ url: '/readyz' })).json().checks.limits).toBe('redis');
    expect(await gateway.data('mutation { createCategory(input: { name: "Dogs" }) { name } }')).toBeDefined();
    await gateway.close();
    expect(await server.ask(['ACL', 'LOG'])).toBe('');
  });

  test('a master that is cut off from its replicas, and must not write without them, does not stop the start either', async () => {
    const master = await start('--min-replicas-to-write', '1');
    const gateway = await startGateway({ REDIS_URL: master.url });
    expect((await gateway.app.inject({ url: '/readyz' })).json().checks.limits).toBe('fallback');
    await gateway.close();
  });

  test('a replica that is read-only does not stop the start: limits are counted in memory until it is a master', async () => {
    const master = await start();
    const replica = await start('--replicaof', `127.0.0.1 ${master.port}`);
    await until(() => replica.follows());
    const gateway = await startGateway({ REDIS_URL: replica.url });
    const limits = async () => (await gateway.app.inject({ url: '/readyz' })).json().checks.limits;
    expect(await limits()).toBe('fallback');
    await replica.ask(['REPLICAOF', 'NO', 'ONE']);
    await until(async () => (await limits()) === 'redis');
    await gateway.close();
  });
}
