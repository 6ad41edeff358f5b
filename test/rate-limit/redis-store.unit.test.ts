import { Redis } from 'ioredis';
import { PLANS } from '../../src/rate-limit/plans';
import { RedisStore } from '../../src/rate-limit/redis-store';
import { STATE_FIELDS, type State } from '../../src/rate-limit/state';
import { BANS } from './scenarios';
import { closeAll, newPrefix, REDIS_URLS } from './stores';

const subject = { id: 'caller', quota: PLANS.FREE };
/** How each command begins. */
const LIMITS = [
  PLANS.FREE.perMinute,
  PLANS.FREE.perDay,
  BANS.banAfter,
  BANS.banSeconds * 1000,
  BANS.banMaxSeconds * 1000,
];

/** A client that answers every script with one request counted just now, by a clock that the test sets. */
class OneRequest extends Redis {
  clock = 0;
  bannedUntil = 0;

  constructor() {
    super({ lazyConnect: true });
  }

  override async quit(): Promise<'OK'> {
    return 'OK';
  }

  override defineCommand(name: string): void {
    const fields: Partial<State> = {
      minuteUsed: 1,
      minuteEnds: 1_000_060_000,
      dayUsed: 1,
      dayEnds: 1_086_400_000,
    };
    const answer = async () => [
      this.clock,
      ...STATE_FIELDS.map((field) => (field === 'bannedUntil' ? this.bannedUntil : (fields[field] ?? 0))),
    ];
    Object.assign(this, { [name]: answer });
  }
}

test('the requests of two turns of the event loop make one command per caller', async () => {
  const redis = new OneRequest();
  const store = new RedisStore(redis, { bans: BANS, now: () => 0 });
  const take = jest.spyOn(redis as unknown as { rateLimitTake(): void }, 'rateLimitTake');
  const ask = (id: string) => store.take({ ...subject, id }, 1, 'counted');
  const asked = [ask('a'), ask('b')];
  await new Promise(setImmediate);
  asked.push(ask('a'));
  await Promise.all(asked);
  expect(take.mock.calls).toEqual([
    ['ratelimit:a', [...LIMITS, 1, 1]],
    ['ratelimit:b', [...LIMITS, 1]],
  ]);
  await store.close();
});

describe('the clock', () => {
  let local = 0;
  let redis: OneRequest;
  let store: RedisStore;
  beforeEach(() => {
    redis = new OneRequest();
    store = new RedisStore(redis, { bans: BANS, now: () => local });
  });
  afterEach(() => store.close());

  async function resetAt(): Promise<number> {
    return (await store.take(subject, 1, 'counted')).windows[0].resetAt;
  }

  test.each([-3_600_000, 0, 3_600_000])(
    'of an instance may be off by %d ms: moments are reported in its time',
    async (off) => {
      redis.clock = 1_000_000_000;
      local = redis.clock + off;
      expect(await resetAt()).toBe(1_000_060_000 + off);
      expect((await store.peek(subject)).windows[1].resetAt).toBe(1_086_400_000 + off);
      redis.bannedUntil = redis.clock + 5000;
      expect(await store.peek(subject)).toMatchObject({ bannedUntil: local + 5000, retryAfterMs: 5000 });
    },
  );

  test('does not make the end of a window vary with the response time', async () => {
    for (const [elapsed, latency] of [
      [0, 2],
      [100, 40],
      [200, 9],
    ] as const) {
      redis.clock = 1_000_000_000 + elapsed;
      local = redis.clock + latency;
      expect(await resetAt()).toBe(1_000_060_002);
    }
  });

  test('is followed when it is set', async () => {
    redis.clock = 1_000_000_000;
    local = redis.clock;
    expect(await resetAt()).toBe(1_000_060_000);
    local = redis.clock + 5000;
    expect(await resetAt()).toBe(1_000_065_000);
    local = redis.clock - 5000;
    expect(await resetAt()).toBe(1_000_055_000);
  });
});

test('requests without an answer in time fail, all of one turn together', async () => {
  const silent = new OneRequest();
  silent.defineCommand = (name) => Object.assign(silent, { [name]: () => new Promise(() => undefined) });
  const store = new RedisStore(silent, { bans: BANS, now: Date.now, timeoutMs: 20 });
  const asked = [
    store.take(subject, 1, 'counted'),
    store.take(subject, 1, 'free'),
    store.peek(subject),
    store.liftBan(subject.id),
  ];
  for (const outcome of await Promise.allSettled(asked)) {
    expect(outcome).toMatchObject({ status: 'rejected', reason: { message: 'no answer within 20 ms' } });
  }
  await store.close();
});

for (const url of REDIS_URLS) {
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
      const standings = await Promise.all([
        store.take(small, 1, 'counted'),
        store.take(small, 2, 'counted'),
        store.take({ id: 'another', quota: PLANS.FREE }, 1, 'counted'),
        store.take(large, 2, 'counted'),
        store.take(large, 5, 'counted'),
        store.take(large, 1, 'free'),
        store.take(small, 1, 'counted'),
      ]);
      expect(standings.map(({ verdict, windows }) => [verdict, windows[0].remaining])).toEqual([
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

    test('requests of one turn of the event loop are sent together', async () => {
      const stream = redis.stream as unknown as Record<'_write' | '_writev', () => void>;
      const one = jest.spyOn(stream, '_write');
      const many = jest.spyOn(stream, '_writev');
      await Promise.all(['a', 'b', 'c'].map((id) => store.take({ ...subject, id }, 1, 'counted')));
      expect([one.mock.calls.length, many.mock.calls.length]).toEqual([0, 1]);
      one.mockRestore();
      many.mockRestore();
    });

    test('an operation is one round trip', async () => {
      await store.take(subject, 1, 'counted');
      await store.peek(subject);
      await store.liftBan(subject.id);
      const sent = jest.spyOn(redis, 'sendCommand');
      await store.take(subject, 1, 'counted');
      await store.peek(subject);
      await store.liftBan(subject.id);
      const names = sent.mock.calls.map(([{ name }]) => name);
      sent.mockRestore();
      expect(names).toEqual(['evalsha', 'evalsha', 'evalsha']);
    });

    test('scripts that Redis has forgotten are sent again', async () => {
      await store.take(subject, 1, 'counted');
      await redis.script('FLUSH');
      expect((await store.take(subject, 1, 'counted')).verdict).toBe('allowed');
    });
  });
}
