import { Installation } from '../helper/installation';
import { GatewayProcess, logOf } from '../helper/process';
import { REDIS_BINARY, RedisServer } from '../helper/redis-server';
import { until } from '../helper/until';
import { RULES, userWith } from './documented-user';

const onOwnServer = REDIS_BINARY ? describe : describe.skip;

onOwnServer('the start fails with a one-line error if the Redis user lacks', () => {
  const installation = new Installation({});
  afterAll(() => installation.remove());

  test.each<[string, RegExp, string]>([
    ['permission to count', /^\+(eval|evalsha)$/, 'NOPERM'],
    ['permission to write', /^\+hset$/, "ERR The user executing the script can't run this command or subcommand"],
    ['permission to publish', /^\+publish$/, 'NOPERM'],
    ['access to the keys', /^~ratelimit/, 'NOPERM'],
    ['access to the channel', /^&/, 'NOPERM'],
  ])('%s', async (_what, without, reason) => {
    const user = userWith(RULES.filter((rule) => !without.test(rule)));
    const redis = await RedisServer.start(REDIS_BINARY ?? '', user);
    const { code, stdout, stderr } = await new GatewayProcess({
      PORT: '0',
      DATA_DIR: installation.data,
      REDIS_URL: `redis://petstore:secret@${redis.host}`,
    }).ended;
    await redis.remove();
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(
      new RegExp(`^petstore-gateway: REDIS_URL: ${reason}[^\n]*the user in REDIS_URL the permissions[^\n]*\n$`),
    );
  });
});

onOwnServer('a start with a replica as its Redis server', () => {
  const installation = new Installation({});
  afterAll(() => installation.remove());

  test('serves, counts in memory, and logs the remedy', async () => {
    const master = await RedisServer.start(REDIS_BINARY ?? '');
    const replica = await RedisServer.start(REDIS_BINARY ?? '', ['--replicaof', `127.0.0.1 ${master.port}`]);
    await until(() => replica.follows());
    const gateway = await installation.start({ REDIS_URL: replica.url });
    const line = logOf(gateway.stdout).find(({ limits }) => limits === 'fallback');
    expect(line?.reason).toMatch(
      /^READONLY .*\. The server is a replica: name the master in REDIS_URL, or its Sentinels\.$/,
    );
    await Promise.all([master.remove(), replica.remove()]);
  });
});
