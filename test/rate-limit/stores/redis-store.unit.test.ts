import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { Redis } from 'ioredis';
import { PLANS } from '../../../src/rate-limit/plans';
import { RedisStore } from '../../../src/rate-limit/redis-store';
import { until } from '../../helper/until';
import { BANS } from '../scenarios';
import { ClockedRedis } from './clocked-redis';
import { closeAll, newPrefix, REDIS_URLS } from './stores';

const subject = { id: 'caller', quota: PLANS.FREE };

test('requests without an answer in time fail, all of one turn together', async () => {
  const silent = createServer((socket) => socket.resume()).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  const redis = new Redis({ port, disconnectTimeout: 10 });
  const store = new RedisStore(redis, { bans: BANS, now: Date.now, timeoutMs: 20 });
  const asked = [
    store.take(subject, 1, 'counted'),
    store.take(subject, 1, 'free'),
    store.peek(subject),
    store.liftBan(subject.id),
  ];
  for (const outcome of await Promise.allSettled(asked)) {
    expect(outcome).toMatchObject({ status: 'rejected', reason: { message: 'no answer within 20 ms' } });
  }
  redis.disconnect();
  silent.close();
});

for (const url of REDIS_URLS) {
  describe('the clock', () => {
    const START = 1_000_000_000;
    let local: number;
    let redis: ClockedRedis;
    let prefix: string;
    let store: RedisStore;
    beforeEach(async () => {
      redis = new ClockedRedis(url);
      prefix = newPrefix();
      store = new RedisStore(redis, { bans: BANS, now: () => local, prefix });
      await redis.setClock(START);
    });
    afterEach(() => closeAll([store], url, prefix));

    /** When the minute ends, in which the first call is the first request. */
    async function resetAt(): Promise<number> {
      return (await store.take(subject, 1, 'counted')).windows[0].resetAt;
    }

    test.each([-3_600_000, 0, 3_600_000])(
      'of an instance may be off by %d ms: moments are reported in its time',
      async (off) => {
        local = START + off;
        expect(await resetAt()).toBe(START + 60_000 + off);
        expect((await store.peek(subject)).windows[1].resetAt).toBe(START + 86_400_000 + off);
        const offender = { id: 'offender', quota: { perMinute: 1, perDay: 1000 } };
        for (let i = 0; i < 1 + 20; i++) await store.take(offender, 1, 'counted');
        await redis.setClock(START + 1000);
        local += 1000;
        expect(await store.peek(offender)).toMatchObject({
          bannedUntil: START + 60_000 + off,
          retryAfterMs: 59_000,
        });
      },
    );

    test('does not make the end of a window vary with the response time', async () => {
      for (const [elapsed, latency] of [
        [0, 2],
        [100, 40],
        [200, 9],
      ] as const) {
        await redis.setClock(START + elapsed);
        local = START + elapsed + latency;
        expect(await resetAt()).toBe(START + 60_002);
      }
    });

    test('is followed when it is set', async () => {
      for (const ahead of [0, 5000, -5000]) {
        local = START + ahead;
        expect(await resetAt()).toBe(START + 60_000 + ahead);
      }
    });
  });

  describe('with Redis', () => {
    const redis = new Redis(url);
    const prefix = newPrefix();
    const store = new RedisStore(redis, { bans: BANS, now: Date.now, prefix });
    const key = prefix + subject.id;
    afterAll(() => closeAll([store], url, prefix));

    test('windows end a minute and a day from now, by the clock of Redis', async () => {
      const before = Date.now();
      const { windows } = await store.take(subject, 1, 'counted');
      expect(Math.abs(windows[0].resetAt - before - 60_000)).toBeLessThan(2000);
      expect(Math.abs(windows[1].resetAt - before - 86_400_000)).toBeLessThan(2000);
    });

    test('requests of one turn are decided in order, each by its own quota', async () => {
      const id = 'changed';
      const [small, large] = [
        { id, quota: { perMinute: 2, perDay: 9 } },
        { id, quota: { perMinute: 4, perDay: 9 } },
      ];
      const statuses = await Promise.all([
        store.take(small, 1, 'counted'),
        store.take(small, 2, 'counted'),
        store.take({ id: 'another', quota: PLANS.FREE }, 1, 'counted'),
        store.take(large, 2, 'counted'),
        store.take(large, 5, 'counted'),
        store.take(large, 1, 'free'),
        store.take(small, 1, 'counted'),
      ]);
      expect(statuses.map(({ verdict, windows }) => [verdict, windows[0].remaining])).toEqual([
        ['allowed', 1],
        ['limited', 1],
        ['allowed', 59],
        ['allowed', 1],
        ['too-expensive', 1],
        ['allowed', 1],
        ['limited', 0],
      ]);
    });

    test('a caller is one hash, which expires when everything in it has ended', async () => {
      await store.take(subject, 1, 'counted');
      expect(await redis.type(key)).toBe('hash');
      const ttl = await redis.pttl(key);
      expect(ttl).toBeGreaterThan(86_390_000);
      expect(ttl).toBeLessThanOrEqual(86_400_000);
      await store.take({ ...subject, id: 'idler' }, 1, 'free');
      expect(await redis.pttl(`${prefix}idler`)).toBeLessThanOrEqual(60_000);
    });

    test('a ban is remembered for a day, to set the length of the next', async () => {
      const offender = { id: 'offender', quota: { perMinute: 1, perDay: 1 } };
      for (let i = 0; i < 10 + 20; i++) await store.take(offender, 1, 'free');
      expect((await store.peek(offender)).verdict).toBe('banned');
      expect(await redis.pttl(`${prefix}offender`)).toBeGreaterThan(86_390_000);
    });

    test('looking up an unknown caller leaves nothing behind', async () => {
      await store.peek({ ...subject, id: 'stranger' });
      await store.liftBan('stranger');
      expect(await redis.exists(`${prefix}stranger`)).toBe(0);
    });

    describe('the commands that Redis gets', () => {
      /** The commands of `work` on this test's keys, each as `NAME key`. */
      async function commandsOf(work: () => Promise<unknown>): Promise<string[]> {
        const monitor = await redis.monitor();
        const got: string[] = [];
        monitor.on('monitor', (_time, args: string[], source: string) => {
          const on = args.find((argument) => argument.startsWith(prefix));
          if (on && source !== 'lua') got.push(`${args[0]?.toUpperCase()} ${on.slice(prefix.length)}`);
        });
        await work();
        await redis.echo(`${prefix}end`);
        await until(async () => got.at(-1) === 'ECHO end');
        monitor.disconnect();
        return got.slice(0, -1);
      }

      test('are one per caller for its requests of two turns of the event loop', async () => {
        const take = (id: string) => store.take({ ...subject, id }, 1, 'counted');
        const taken = async () => {
          const asked = [take('one'), take('other')];
          await new Promise(setImmediate);
          asked.push(take('one'));
          expect((await Promise.all(asked)).map(({ windows }) => windows[0].remaining)).toEqual([59, 59, 58]);
        };
        await take('warm');
        expect(await commandsOf(taken)).toEqual(['EVALSHA one', 'EVALSHA other']);
      });

      test('are one per operation', async () => {
        const operate = async () => {
          await store.take(subject, 1, 'counted');
          await store.peek(subject);
          await store.liftBan(subject.id);
        };
        await operate();
        expect(await commandsOf(operate)).toEqual(Array(3).fill(`EVALSHA ${subject.id}`));
      });
    });

    test('scripts that Redis has forgotten are sent again', async () => {
      await store.take(subject, 1, 'counted');
      await redis.script('FLUSH');
      expect((await store.take(subject, 1, 'counted')).verdict).toBe('allowed');
    });
  });
}
