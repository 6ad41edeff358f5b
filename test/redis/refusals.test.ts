import { type Gateway, startGateway } from '../helper/gateway';
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

  describe('the start stops, and says why without the password, for', () => {
    let gateway: Gateway;
    let guarded: RedisServer;
    let sentinel: RedisServer;
    let closed: RedisServer;
    beforeAll(async () => {
      gateway = await startGateway();
      guarded = await start('--requirepass', 'hunter2');
      sentinel = await startSentinel(`sentinel monitor shop 127.0.0.1 ${guarded.port} 1`);
      closed = await startSentinel(`sentinel monitor shop 127.0.0.1 ${guarded.port} 1`, 'requirepass other');
    });
    afterAll(() => gateway.close());

    const WRONG = 'WRONGPASS invalid username-password pair or user is disabled';
    test.each<[string, () => string, string]>([
      ['a missing password', () => guarded.url, 'NOAUTH Authentication required'],
      ['a wrong password', () => `redis://:hunter3@${guarded.host}`, WRONG],
      ['a wrong user', () => `redis://hunter3:hunter2@${guarded.host}`, WRONG],
      ['an unknown database', () => `redis://:hunter2@${guarded.host}/16`, 'ERR DB index is out of range'],
      ['a Sentinel as a server', () => sentinel.url, "ERR unknown command 'eval'"],
      ['a Sentinel as a cluster', () => `redis+cluster://${sentinel.host}`, "ERR unknown command 'cluster'"],
      [
        'a server as a cluster',
        () => `redis+cluster://:hunter2@${guarded.host}`,
        'ERR This instance has cluster support disabled',
      ],
      [
        'a server as a Sentinel',
        () => `redis+sentinel://127.0.0.1:1,${guarded.host}/shop?sentinel_password=hunter2`,
        "ERR unknown command 'sentinel'",
      ],
      [
        'an unknown master',
        () => `redis+sentinel://127.0.0.1:1,${sentinel.host}/store`,
        'ERR No such master with that name',
      ],
      ['a wrong password of a master', () => `redis+sentinel://:hunter3@${sentinel.host}/shop`, WRONG],
      [
        'a missing password of a Sentinel',
        () => `redis+sentinel://:hunter2@${closed.host}/shop`,
        'NOAUTH Authentication required',
      ],
    ])('%s', async (_what, url, message) => {
      await expect(gateway.another({ REDIS_URL: url() })).rejects.toThrow(new Error(`REDIS_URL: ${message}`));
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
