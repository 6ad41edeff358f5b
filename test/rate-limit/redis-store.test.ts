import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { Redis } from 'ioredis';
import { PLANS } from '../../src/rate-limit/plans';
import { RedisStore } from '../../src/rate-limit/redis-store';
import { until } from '../helper/until';
import { HAS_REDIS, openRedis } from '../redis/server';
import { ClockedRedis, newPrefix } from './limiters';
import { BANS } from './scenarios';

const subject = { id: 'caller', quota: PLANS.FREE };

test('requests fail if Redis does not respond within the timeout', async () => {
  const silent = createServer((socket) => socket.resume()).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const redis = new Redis({ port: (silent.address() as AddressInfo).port, disconnectTimeout: 10 });
  const store = new RedisStore(redis, { bans: BANS, now: Date.now, timeoutMs: 20 });
  const requests = [store.take(subject, 1, 'counted'), store.peek(subject), store.liftBan(subject.id)];
  for (const outcome of await Promise.allSettled(requests))
    expect(outcome).toMatchObject({ status: 'rejected', reason: { message: 'no response within 20 ms' } });
  redis.disconnect();
  silent.close();
});

const withRedis = HAS_REDIS ? describe : describe.skip;

withRedis('with Redis', () => {
  const prefix = newPrefix();
  let server: Awaited<ReturnType<typeof openRedis>>;
  let redis: Redis;
  let store: RedisStore;
  beforeAll(async () => {
    server = await openRedis();
    redis = new Redis(server.url);
    store = new RedisStore(redis, { bans: BANS, now: Date.now, prefix });
  });
  afterAll(async () => {
    await store.close();
    await server.close();
  });

  describe('whose clock differs from the clock of the instance', () => {
    const START = 1_000_000_000;
    let local: number;
    let clocked: ClockedRedis;
    let store: RedisStore;
    beforeEach(async () => {
      clocked = new ClockedRedis(server.url);
      store = new RedisStore(clocked, { bans: BANS, now: () => local, prefix: newPrefix() });
      await clocked.setClock(START);
    });
    afterEach(() => store.close());

    test.each([-3_600_000, 0, 3_600_000])('by %d ms, reported times use the clock of the instance', async (off) => {
      local = START + off;
      const { windows } = await store.take(subject, 1, 'counted');
      expect(windows.map(({ resetAt }) => resetAt - local)).toEqual([60_000, 86_400_000]);
      const offender = { id: 'offender', quota: { perMinute: 1, perDay: 1000 } };
      for (let i = 0; i < 1 + 20; i++) await store.take(offender, 1, 'counted');
      await clocked.setClock(START + 1000);
      local += 1000;
      expect(await store.peek(offender)).toMatchObject({ bannedUntil: local + 59_000, retryAfterMs: 59_000 });
    });
  });

  test('windows end a minute and a day after the first request, by the clock of Redis', async () => {
    const before = Date.now();
    const { windows } = await store.take(subject, 1, 'counted');
    for (const { resetAt, seconds } of windows) expect(Math.abs(resetAt - before - seconds * 1000)).toBeLessThan(2000);
  });

  test('simultaneous requests of a caller are decided in order, each by the quota passed with it', async () => {
    const requests = [
      { perMinute: 2, cost: 1, is: ['allowed', 1] },
      { perMinute: 2, cost: 2, is: ['limited', 1] },
      { perMinute: 4, cost: 2, is: ['allowed', 1] },
      { perMinute: 4, cost: 5, is: ['too-expensive', 1] },
      { perMinute: 2, cost: 1, is: ['limited', 0] },
    ];
    const statuses = await Promise.all(
      requests.map(({ perMinute, cost }) =>
        store.take({ id: 'changed', quota: { perMinute, perDay: 9 } }, cost, 'counted'),
      ),
    );
    const answers = statuses.map(({ verdict, windows }) => [verdict, windows[0].remaining]);
    expect(answers).toEqual(requests.map(({ is }) => is));
  });

  test('a caller is stored in one hash, which expires with its last window or ban', async () => {
    const ttl = (id: string) => redis.pttl(prefix + id);
    await store.take({ ...subject, id: 'counted' }, 1, 'counted');
    expect(await redis.type(`${prefix}counted`)).toBe('hash');
    expect(await ttl('counted')).toBeGreaterThan(86_390_000);
    expect(await ttl('counted')).toBeLessThanOrEqual(86_400_000);
    await store.take({ ...subject, id: 'free' }, 1, 'free');
    expect(await ttl('free')).toBeLessThanOrEqual(60_000);
    const offender = { id: 'offender', quota: { perMinute: 1, perDay: 1 } };
    for (let i = 0; i < 10 + 20; i++) await store.take(offender, 1, 'free');
    expect(await ttl('offender')).toBeGreaterThan(86_390_000);
    await store.peek({ ...subject, id: 'stranger' });
    await store.liftBan('stranger');
    expect(await redis.exists(`${prefix}stranger`)).toBe(0);
  });

  test('requests of a caller from two successive iterations of the event loop are sent as one command', async () => {
    const take = (id: string) => store.take({ ...subject, id }, 1, 'counted');
    await Promise.all([take('warm'), store.peek(subject), store.liftBan(subject.id)]);
    const monitor = await redis.monitor();
    const commands: string[] = [];
    monitor.on('monitor', (_time, args: string[], source: string) => {
      const key = args.find((argument) => argument.startsWith(prefix));
      if (key && source !== 'lua') commands.push(`${args[0]?.toUpperCase()} ${key.slice(prefix.length)}`);
    });
    const requests = [take('one'), take('other')];
    await new Promise(setImmediate);
    requests.push(take('one'));
    expect((await Promise.all(requests)).map(({ windows }) => windows[0].remaining)).toEqual([59, 59, 58]);
    await store.peek({ ...subject, id: 'one' });
    await store.liftBan('one');
    await until(async () => commands.length >= 4);
    expect(commands).toEqual(['one', 'other', 'one', 'one'].map((id) => `EVALSHA ${id}`));
    monitor.disconnect();
  });

  test('a script that Redis no longer has is sent again', async () => {
    await redis.script('FLUSH');
    expect((await store.take({ ...subject, id: 'again' }, 1, 'counted')).verdict).toBe('allowed');
  });
});
