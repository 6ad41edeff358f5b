import fc from 'fast-check';
import type { LimitStatus, Window } from '../../src/rate-limit/limit-status';
import { MemoryStore } from '../../src/rate-limit/memory-store';
import { PLANS } from '../../src/rate-limit/plans';
import { RATE_LIMIT_HEADER_NAMES, rateLimitHeaders } from '../../src/rate-limit/rate-limit-headers';
import { listOf, toldBy } from '../helper/standing';
import { BANS } from './scenarios';

const START = 1_800_000_000_001;
let now = START;
let store: MemoryStore;
beforeEach(() => {
  now = START;
  store = new MemoryStore({ bans: BANS, now: () => now });
});

const free = { id: 'caller', quota: PLANS.FREE };
const takeAll = (times: number) => Array.from({ length: times }, () => store.take(free, 1, 'counted')).at(-1);

describe('X-RateLimit headers', () => {
  const read = (status: LimitStatus) => toldBy(rateLimitHeaders(status, now));

  test('count down by the cost of each request, and give the end of the window in whole seconds, never too early', () => {
    for (const [cost, remaining] of [
      [1, 59],
      [3, 56],
      [56, 0],
    ] as const) {
      const reset = 1_800_000_061;
      expect(read(store.take(free, cost, 'counted'))).toMatchObject({ limit: 60, remaining, reset });
      now += 500;
    }
  });

  test('are those of the day if it has fewer remaining', () => {
    const subject = { id: 'caller', quota: { perMinute: 60, perDay: 61 } };
    store.take(subject, 50, 'counted');
    now += 60_000;
    expect(read(store.take(subject, 1, 'counted'))).toMatchObject({ limit: 61, remaining: 10 });
  });

  test('come with a Retry-After after which the next request passes', () => {
    takeAll(60);
    now += 12_345;
    const refused = rateLimitHeaders(store.take(free, 1, 'counted'), now);
    expect(refused).toMatchObject({ 'x-ratelimit-remaining': '0', 'retry-after': '48' });
    now += Number(refused['retry-after']) * 1000;
    expect(store.take(free, 1, 'counted').verdict).toBe('allowed');
  });
});

describe('RateLimit-Policy and RateLimit, read as structured fields', () => {
  const read = (status: LimitStatus, field: 'ratelimit-policy' | 'ratelimit') =>
    listOf(rateLimitHeaders(status, now)[field]);

  test('give both windows with name, quota, length, remaining requests and seconds', () => {
    const status = store.take(free, 2, 'counted');
    now += 1500;
    expect(read(status, 'ratelimit-policy')).toEqual([
      ['minute', { q: 60, w: 60 }],
      ['day', { q: 1000, w: 86_400 }],
    ]);
    expect(read(status, 'ratelimit')).toEqual([
      ['minute', { r: 58, t: 59 }],
      ['day', { r: 998, t: 86_399 }],
    ]);
  });

  test('report the ceiling of free requests if that is the one that refused', () => {
    for (let i = 0; i < 600; i++) expect(store.take(free, 1, 'free').verdict).toBe('allowed');
    const refused = store.take(free, 1, 'free');
    expect(read(refused, 'ratelimit-policy')[2]).toEqual(['uncounted', { q: 600, w: 60 }]);
    expect(read(refused, 'ratelimit')[2]).toEqual(['uncounted', { r: 0, t: 60 }]);
    expect(rateLimitHeaders(refused, now)).toMatchObject({ 'x-ratelimit-limit': '600', 'retry-after': '60' });
  });
});

describe('Retry-After', () => {
  test('is on refusals only', () => {
    expect(rateLimitHeaders(store.peek(free), now)).not.toHaveProperty('retry-after');
    expect(rateLimitHeaders(store.take(free, 61, 'counted'), now)).not.toHaveProperty('retry-after');
    expect(rateLimitHeaders(store.take(free, 60, 'counted'), now)).not.toHaveProperty('retry-after');
    expect(rateLimitHeaders(store.take(free, 1, 'counted'), now)).toHaveProperty('retry-after', '60');
  });

  test('for a banned caller is the rest of the ban', () => {
    takeAll(60);
    now += 59_000;
    takeAll(20);
    now += 1;
    expect(rateLimitHeaders(store.take(free, 1, 'free'), now)).toHaveProperty('retry-after', '60');
  });

  test('is at least one second', () => {
    takeAll(60);
    now += 59_999;
    expect(rateLimitHeaders(store.take(free, 1, 'counted'), now)).toHaveProperty('retry-after', '1');
  });
});

test('the list of exposed headers has every header that is ever set', () => {
  takeAll(60);
  expect(Object.keys(rateLimitHeaders(store.take(free, 1, 'counted'), now))).toEqual(
    RATE_LIMIT_HEADER_NAMES.map((name) => name.toLowerCase()),
  );
});

test('for any status, the values are integers of at least 0', () => {
  const number = fc.oneof(fc.double(), fc.integer(), fc.constantFrom(Number.NaN, -1, 0.5));
  const windowOf = (name: Window['name']) =>
    fc.record({
      name: fc.constant(name),
      limit: fc.nat(),
      used: fc.nat(),
      remaining: number,
      resetAt: number,
      seconds: fc.constantFrom(60 as const, 86_400 as const),
    });
  fc.assert(
    fc.property(
      windowOf('minute'),
      windowOf('day'),
      windowOf('uncounted'),
      number,
      fc.nat(),
      (minute, day, ceiling, retryAfterMs, at) => {
        const status: LimitStatus = {
          verdict: 'banned',
          quota: { perMinute: minute.limit, perDay: day.limit },
          windows: [minute, day],
          inForce: ceiling,
          retryAfterMs,
          bannedUntil: undefined,
        };
        for (const [name, value] of Object.entries(rateLimitHeaders(status, at))) {
          if (name === 'retry-after') expect(value).toMatch(/^[1-9]\d*$/);
          else if (name.startsWith('x-')) expect(value).toMatch(/^\d+$/);
          else expect(value).not.toMatch(/NaN|-|Infinity/);
        }
      },
    ),
  );
});
