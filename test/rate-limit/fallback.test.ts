import { setTimeout as sleep } from 'node:timers/promises';
import { Limiter, type LimiterOptions } from '../../src/rate-limit/limiter';
import { PLANS } from '../../src/rate-limit/plans';
import { RedisStore } from '../../src/rate-limit/redis-store';
import { connectRedis, faultOf } from '../../src/redis/redis-client';
import { REDIS_BINARY, RedisServer } from '../helper/redis-server';
import { until } from '../helper/until';
import { RedisStub } from './limiters';
import { BANS } from './scenarios';

const subject = { id: 'caller', quota: PLANS.FREE };
let limiter: Limiter;
let changes: string[];

function open(redis: LimiterOptions['redis'], fallbackFraction?: number): void {
  changes = [];
  const onState = (state: string, error?: unknown) =>
    changes.push(error instanceof Error ? `${state}: ${error.message}` : state);
  limiter = new Limiter({
    bans: BANS,
    now: () => Date.now(),
    redis,
    retryMs: 40,
    onState,
    ...(fallbackFraction && { fallbackFraction }),
  });
}
afterEach(() => limiter.close());

const take = async (cost = 1) => limiter.take(subject, cost, 'counted');
const takeTimes = (times: number) => Promise.all(Array.from({ length: times }, () => take()));
const countAllowed = async (times: number) =>
  (await takeTimes(times)).filter(({ verdict }) => verdict === 'allowed').length;
const limits = async () => (await limiter.peek(subject)).windows.map(({ limit }) => limit);
const isUsingRedis = async () => limiter.state === 'redis';

describe('a Redis that stops responding', () => {
  let redis: RedisStub;
  beforeEach(() => {
    redis = new RedisStub();
    open(redis);
  });

  test.each([
    ['rejects', 'out of reach'],
    ['hangs', 'no response within 30 ms'],
  ] as const)(
    'makes no request fail; half the quota is granted from memory, and the fallback is reported once: Redis %s',
    async (behaviour, why) => {
      redis.behaviour = behaviour;
      expect(await countAllowed(100)).toBe(30);
      expect(await limits()).toEqual([30, 500]);
      expect(changes).toEqual([`fallback: ${why}`]);
    },
  );

  test('delays no later request, and is probed until it responds again', async () => {
    redis.behaviour = 'hangs';
    await take();
    const { requests } = redis;
    expect(limiter.take(subject, 1, 'counted')).toMatchObject({ windows: [{ used: 2 }, { used: 2 }] });
    expect(limiter.peek(subject)).toMatchObject({ windows: [{ used: 2 }, { used: 2 }] });
    expect(redis.requests).toBe(requests);
    await until(async () => redis.requests > requests + 2);
    redis.behaviour = 'answers';
    await until(isUsingRedis);
    expect(await limits()).toEqual([60, 1000]);
    expect(changes).toEqual(['fallback: no response within 30 ms', 'redis']);
  });

  test('twice does not cause the fallback quota to be granted twice', async () => {
    let allowed = 0;
    for (let time = 0; time < 2; time++) {
      redis.behaviour = 'rejects';
      allowed += await countAllowed(20);
      redis.behaviour = 'answers';
      await until(isUsingRedis);
    }
    expect(allowed).toBe(30);
  });

  test('does not cause operations within the quota of the plan to be rejected as too expensive', async () => {
    redis.behaviour = 'rejects';
    expect(await take(60)).toMatchObject({ verdict: 'allowed', inForce: { remaining: 0 } });
    expect((await take()).verdict).toBe('limited');
    expect((await take(61)).verdict).toBe('too-expensive');
  });

  test('does not prevent bans, and bans can be lifted', async () => {
    for (const behaviour of ['answers', 'rejects'] as const) {
      redis.behaviour = behaviour;
      await takeTimes(80);
      expect((await limiter.take(subject, 1, 'free')).verdict).toBe('banned');
      expect([await limiter.liftBan(subject.id), await limiter.liftBan(subject.id)]).toEqual([true, false]);
    }
  });

  test('while a ban is being lifted does not cause an error', async () => {
    redis.behaviour = 'rejects';
    expect(await limiter.liftBan(subject.id)).toBe(false);
    expect(limiter.state).toBe('fallback');
  });

  test('is not probed after the limiter is closed, and nothing more is reported', async () => {
    redis.behaviour = 'rejects';
    await take();
    await limiter.close();
    const { requests } = redis;
    await sleep(100);
    expect([redis.requests, changes.length]).toEqual([requests, 1]);
  });
});

test('the fraction of the quota during a fallback is configurable, and at least one request is allowed', async () => {
  open(Object.assign(new RedisStub(), { behaviour: 'rejects' }), 0.001);
  expect(await countAllowed(2)).toBe(1);
  expect(await limits()).toEqual([1, 1]);
});

async function connect(url: string): Promise<void> {
  open(new RedisStore(await connectRedis(url), { bans: BANS, now: Date.now }));
}

test('if Redis is unreachable at startup, requests are served and the limiter can be closed', async () => {
  await connect('redis://127.0.0.1:1');
  expect((await take()).windows[0].limit).toBe(30);
});

const withServer = REDIS_BINARY ? describe : describe.skip;

withServer('a Redis server', () => {
  let server: RedisServer;
  beforeEach(async () => {
    server = await RedisServer.start(REDIS_BINARY ?? '');
    await connect(server.url);
    await take();
  });
  afterEach(() => server.remove());

  test('that is killed during requests makes no request fail, and is used again after its restart', async () => {
    const sent = takeTimes(20);
    await server.kill();
    const statuses = [...(await sent), await take()];
    expect(statuses.filter(({ verdict }) => verdict !== 'allowed')).toEqual([]);
    expect(await limits()).toEqual([30, 500]);
    await server.start();
    await until(isUsingRedis);
    expect((await take()).windows[0]).toMatchObject({ limit: 60, remaining: 59 });
  });

  test('that is frozen delays the first requests by the timeout and does not delay later requests', async () => {
    server.freeze();
    const start = performance.now();
    await takeTimes(10);
    expect(performance.now() - start).toBeLessThan(1000);
    expect(limiter.take(subject, 1, 'counted')).not.toBeInstanceOf(Promise);
    // Waits until the client has given up the connection.
    await sleep(2500);
    server.thaw();
    await until(isUsingRedis);
    expect(await limits()).toEqual([60, 1000]);
  });

  test('that is stopped is reported by `faultOf` with the reason until the server is back', async () => {
    const client = await connectRedis(server.url);
    const reason = () => faultOf(client)?.message;
    expect(reason()).toBeUndefined();
    await server.kill();
    await until(async () => reason() === `connect ECONNREFUSED ${server.host}`);
    await server.start();
    await until(async () => reason() === undefined && client.status === 'ready');
    client.disconnect();
  });
});

describe('a ban that Redis has reported', () => {
  let redis: RedisStub;
  beforeEach(async () => {
    redis = new RedisStub();
    open(redis);
    await takeTimes(60 + BANS.banAfter);
  });
  afterEach(() => jest.restoreAllMocks());

  test('is remembered, so that Redis is not asked again', async () => {
    const { requests } = redis;
    for (let i = 0; i < 50; i++) {
      const status = await limiter.recordKnownBan(subject);
      expect(status?.verdict).toBe('banned');
      expect(status?.retryAfterMs).toBeGreaterThan(55_000);
    }
    expect(redis.requests).toBe(requests);
    expect(limiter.decisions.banned).toBe(50);
  });

  test('is checked again after 5 s, once for all requests', async () => {
    const now = performance.now();
    jest.spyOn(performance, 'now').mockReturnValue(now + 5_001);
    const { requests } = redis;
    const statuses = await Promise.all(Array.from({ length: 20 }, async () => limiter.recordKnownBan(subject)));
    expect(new Set(statuses.map((status) => status?.verdict))).toEqual(new Set(['banned']));
    expect(redis.requests).toBe(requests + 1);
  });

  test('ends within 5 s if another instance lifts it, and at once if this instance does', async () => {
    const { id } = subject;
    await redis.liftBan(id);
    expect((await limiter.recordKnownBan(subject))?.verdict).toBe('banned');
    const now = performance.now();
    jest.spyOn(performance, 'now').mockReturnValue(now + 5_001);
    expect(await limiter.recordKnownBan(subject)).toBeUndefined();
    expect(await limiter.recordKnownBan(subject)).toBeUndefined();
    await takeTimes(BANS.banAfter);
    expect((await limiter.recordKnownBan(subject))?.verdict).toBe('banned');
    await limiter.liftBan(id);
    expect(await limiter.recordKnownBan(subject)).toBeUndefined();
  });

  test('remains when Redis stops responding, until it is lifted', async () => {
    redis.behaviour = 'rejects';
    expect(await limiter.peek(subject)).toMatchObject({ verdict: 'banned', bannedUntil: expect.any(Number) });
    expect(limiter.state).toBe('fallback');
    expect((await limiter.recordKnownBan(subject))?.verdict).toBe('banned');
    for (const kind of ['counted', 'free'] as const)
      expect((await limiter.take(subject, 1, kind)).verdict).toBe('banned');
    expect([await limiter.liftBan(subject.id), await limiter.liftBan(subject.id)]).toEqual([true, false]);
    expect(await limiter.recordKnownBan(subject)).toBeUndefined();
    expect((await limiter.peek(subject)).bannedUntil).toBeUndefined();
    expect((await take()).verdict).toBe('allowed');
  });

  test('is lifted if Redis stops responding meanwhile', async () => {
    redis.behaviour = 'rejects';
    expect([await limiter.liftBan(subject.id), await limiter.liftBan(subject.id)]).toEqual([true, false]);
  });

  test('ends in time if the clock is set back by an hour', async () => {
    const clock = jest.spyOn(Date, 'now').mockReturnValue(Date.now() - 3_600_000);
    // Redis has its own clock: 30 s of the ban are left.
    const ban = { verdict: 'banned', bannedUntil: Date.now() + 30_000, retryAfterMs: 30_000 } as const;
    jest.spyOn(redis, 'take').mockResolvedValue({ ...(await redis.peek(subject)), ...ban });
    expect(await limiter.recordKnownBan(subject)).toBeUndefined();
    await take();
    expect(await limiter.recordKnownBan(subject)).toMatchObject(ban);
    clock.mockReturnValue(ban.bannedUntil);
    expect(await limiter.recordKnownBan(subject)).toBeUndefined();
  });

  test('is over when its time has passed', async () => {
    const now = Date.now();
    jest.spyOn(Date, 'now').mockReturnValue(now + 1000 * BANS.banMaxSeconds + 1);
    expect(await limiter.recordKnownBan(subject)).toBeUndefined();
  });
});

test('a caller that is not banned is not rejected', async () => {
  for (const redis of [undefined, new RedisStub()]) {
    open(redis);
    await take();
    expect(await limiter.recordKnownBan(subject)).toBeUndefined();
  }
});
