import { Redis } from 'ioredis';
import type { Subject } from '../../src/rate-limit/limit-status';
import { MemoryStore } from '../../src/rate-limit/memory-store';
import { RedisStore } from '../../src/rate-limit/redis-store';
import { HAS_REDIS, openRedis } from '../redis/server';
import { newPrefix } from './limiters';

const bans = { banAfter: 3, banSeconds: 60, banMaxSeconds: 3600 };
const quota = { perMinute: 4, perDay: 100 };

describe.each(['memory', 'Redis'])('callers that share the windows of another caller, in %s', (kind) => {
  let server: Awaited<ReturnType<typeof openRedis>> | undefined;
  let store: Pick<RedisStore, 'take' | 'peek' | 'liftBan'> | MemoryStore;
  let redis: RedisStore | undefined;
  const owner: Subject = { id: 'owner', quota };
  const a: Subject = { id: 'a', quota, windowsOf: 'owner' };
  const b: Subject = { id: 'b', quota, windowsOf: 'owner' };
  const isSkipped = kind === 'Redis' && !HAS_REDIS;

  beforeAll(async () => {
    if (kind === 'Redis' && HAS_REDIS) server = await openRedis();
  });
  beforeEach(() => {
    redis = server && new RedisStore(new Redis(server.url), { bans, now: Date.now, prefix: newPrefix() });
    store = redis ?? new MemoryStore({ bans, now: Date.now });
  });
  afterEach(() => redis?.close());
  afterAll(() => server?.close());
  const check = isSkipped ? test.skip : test;

  const take = async (subject: Subject, cost = 1) => (await store.take(subject, cost, 'counted')).verdict;

  check('use one quota, regardless of which key asks', async () => {
    expect([await take(a), await take(owner), await take(b, 2)]).toEqual(['allowed', 'allowed', 'allowed']);
    for (const subject of [a, b, owner]) {
      expect((await store.peek(subject)).windows.map(({ used }) => used)).toEqual([4, 4]);
      expect(await take(subject)).toBe('limited');
    }
  });

  check('are banned each for their own rejections', async () => {
    await take(a, 4);
    expect([await take(b), await take(b), await take(b), await take(b)]).toEqual([
      'limited',
      'limited',
      'limited',
      'banned',
    ]);
    expect([await take(a), await take(owner)]).toEqual(['limited', 'limited']);
    expect([await store.liftBan('a', 'owner'), await store.liftBan('owner')]).toEqual([false, false]);
    expect([await store.liftBan('b', 'owner'), await take(b)]).toEqual([true, 'limited']);
  });

  check('share a quota exactly if they ask at the same time', async () => {
    const subjects = Array.from({ length: 30 }, (_, i) => ({ id: `k${i % 10}`, quota, windowsOf: 'owner' }));
    const verdicts = await Promise.all(subjects.map((subject) => take(subject)));
    expect(verdicts.filter((verdict) => verdict === 'allowed')).toHaveLength(4);
  });

  check('do not end a ban of the owner early', async () => {
    await take(owner, 4);
    for (let i = 0; i < 3; i++) await take(owner);
    expect(await take(owner)).toBe('banned');
    await take(a);
    expect((await store.peek(owner)).verdict).toBe('banned');
  });
});
