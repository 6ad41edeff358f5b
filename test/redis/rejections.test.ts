import { freePort } from '../helper/free-port';
import { type Gateway, startGateway } from '../helper/gateway';
import { REDIS_BINARY, RedisServer } from '../helper/redis-server';
import { until } from '../helper/until';
import { RULES, userWith } from './documented-user';

const withServer = REDIS_BINARY ? describe : describe.skip;

withServer('the start with Redis', () => {
  const servers: RedisServer[] = [];
  const keep = (server: RedisServer): RedisServer => {
    servers.push(server);
    return server;
  };
  const start = async (...options: string[]) => keep(await RedisServer.start(REDIS_BINARY ?? '', options));
  const startSentinel = async (...lines: string[]) => keep(await RedisServer.startSentinel(REDIS_BINARY ?? '', lines));

  let gateway: Gateway;
  let guarded: RedisServer;
  let sentinel: RedisServer;
  let closed: RedisServer;
  beforeAll(async () => {
    gateway = await startGateway();
    guarded = await start('--requirepass', 'hunter2');
    const monitor = `sentinel monitor shop 127.0.0.1 ${guarded.port} 1`;
    [sentinel, closed] = await Promise.all([startSentinel(monitor), startSentinel(monitor, 'requirepass other')]);
  });
  afterAll(async () => {
    await gateway.close();
    await Promise.all(servers.map((server) => server.remove()));
  });

  const WRONG =
    'WRONGPASS invalid username-password pair or user is disabled. Correct user and password in REDIS_URL. Both are percent-encoded.';
  const MISSING =
    'NOAUTH Authentication required. Add the password to REDIS_URL (for Sentinels, as sentinel_password).';
  const IS_SENTINEL = 'If the server is a Sentinel, use redis+sentinel:// in REDIS_URL.';
  test.each<[string, () => string, string]>([
    ['a missing password of the server', () => guarded.url, MISSING],
    ['a wrong password', () => `redis://:hunter3@${guarded.host}`, WRONG],
    ['a wrong user', () => `redis://hunter3:hunter2@${guarded.host}`, WRONG],
    [
      'an unknown database',
      () => `redis://:hunter2@${guarded.host}/16`,
      'ERR DB index is out of range. Correct the database number in REDIS_URL.',
    ],
    ['a Sentinel addressed as a server', () => sentinel.url, `ERR unknown command 'eval'. ${IS_SENTINEL}`],
    [
      'a Sentinel addressed as a cluster',
      () => `redis+cluster://${sentinel.host}`,
      `ERR unknown command 'cluster'. ${IS_SENTINEL}`,
    ],
    [
      'a server addressed as a cluster',
      () => `redis+cluster://:hunter2@${guarded.host}`,
      'ERR This instance has cluster support disabled. The server is not a node of a cluster: use redis:// in REDIS_URL.',
    ],
    [
      'a server addressed as a Sentinel',
      () => `redis+sentinel://127.0.0.1:1,${guarded.host}/shop?sentinel_password=hunter2`,
      "ERR unknown command 'sentinel'. The server is not a Sentinel: use redis:// in REDIS_URL, or name Sentinels.",
    ],
    [
      'an unknown master',
      () => `redis+sentinel://127.0.0.1:1,${sentinel.host}/store`,
      'ERR No such master with that name. Correct the name of the master in REDIS_URL.',
    ],
    ['a wrong password of a master', () => `redis+sentinel://:hunter3@${sentinel.host}/shop`, WRONG],
    ['a missing password of a Sentinel', () => `redis+sentinel://:hunter2@${closed.host}/shop`, MISSING],
  ])('fails for %s, and the error does not contain the password', async (_what, url, message) => {
    await expect(gateway.another({ REDIS_URL: url() })).rejects.toThrow(new Error(`REDIS_URL: ${message}`));
  });

  test('fails for a node of a cluster addressed as a server', async () => {
    const startNode = async () =>
      start(
        '--cluster-enabled',
        'yes',
        '--cluster-port',
        String(await freePort()),
        '--cluster-announce-ip',
        '127.0.0.1',
      );
    const [master, node] = await Promise.all([startNode(), startNode()]);
    await master.ask(['CLUSTER', 'ADDSLOTSRANGE', '0', '16383']);
    const bus = ((await master.call(['CONFIG', 'GET', 'cluster-port'])) as string[])[1] ?? '';
    await node.ask(['CLUSTER', 'MEET', '127.0.0.1', String(master.port), bus]);
    await until(async () => (await node.ask(['CLUSTER', 'INFO'])).includes('cluster_state:ok'), 30);
    await expect(gateway.another({ REDIS_URL: node.url })).rejects.toThrow(
      /^REDIS_URL: MOVED \d+ \S+\. The server is a node of a cluster: use redis\+cluster:\/\/ in REDIS_URL\.$/,
    );
  });

  const limits = async (of: Gateway) => (await of.app.inject({ url: '/readyz' })).json().checks.limits;

  test('succeeds for a user with the documented permissions, which suffice for all commands of the gateway', async () => {
    const server = await start(...userWith(RULES));
    const instance = await gateway.another({ REDIS_URL: `redis://petstore:secret@${server.host}/1` });
    const { headers } = await instance.createKey();
    for (const url of ['/pets', '/rate_limit'])
      expect((await instance.app.inject({ url, headers })).statusCode).toBe(200);
    expect(await limits(instance)).toBe('redis');
    await instance.data('mutation { createCategory(input: { name: "Dogs" }) { name } }');
    await instance.close();
    expect(await server.ask(['ACL', 'LOG'])).toBe('');
  });

  test.each([
    ['to count', /^\+(eval|evalsha)$/],
    ['to publish', /^\+publish$/],
  ])('leaves no connection open if it fails because the user has no permission %s', async (_what, without) => {
    const server = await start(...userWith(RULES.filter((rule) => !without.test(rule))));
    const REDIS_URL = `redis://petstore:secret@${server.host}`;
    await expect(gateway.another({ REDIS_URL })).rejects.toThrow(/^REDIS_URL: NOPERM/);
    await until(async () => !(await server.ask(['CLIENT', 'LIST'])).includes('user=petstore'));
  });

  test('succeeds if the master rejects writes because it has no replica; requests are then counted in memory', async () => {
    const instance = await gateway.another({ REDIS_URL: (await start('--min-replicas-to-write', '1')).url });
    expect(await limits(instance)).toBe('fallback');
    await instance.close();
  });

  test('succeeds if the server is a replica; requests are counted in memory until the replica becomes a master', async () => {
    const replica = await start('--replicaof', `127.0.0.1 ${(await start()).port}`);
    await until(() => replica.follows());
    const instance = await gateway.another({ REDIS_URL: replica.url });
    expect(await limits(instance)).toBe('fallback');
    await replica.ask(['REPLICAOF', 'NO', 'ONE']);
    await until(async () => (await limits(instance)) === 'redis');
    await instance.close();
  });
});
