import fc from 'fast-check';
import type { LimitStatus, Window } from '../../src/rate-limit/limit-status';
import { MemoryStore } from '../../src/rate-limit/memory-store';
import { PLANS } from '../../src/rate-limit/plans';
import { RATE_LIMIT_HEADER_NAMES, rateLimitHeaders } from '../../src/rate-limit/rate-limit-headers';
import type { RequestKind } from '../../src/rate-limit/rules';
import { type Told, toldBy } from '../helper/standing';
import { BANS } from './scenarios';

const START = 1_800_000_000_001;
let now: number;
let store: MemoryStore;
let quota: typeof PLANS.FREE;
beforeEach(() => {
  now = START;
  store = new MemoryStore({ bans: BANS, now: () => now });
  quota = PLANS.FREE;
});

/** Sends `times` requests of cost `cost`. @returns the headers of the last response. */
function send(times: number, cost = 1, kind: RequestKind = 'counted'): Record<string, string> {
  let status = store.peek({ id: 'caller', quota });
  for (let i = 0; i < times; i++) status = store.take({ id: 'caller', quota }, cost, kind);
  return rateLimitHeaders(status, now);
}

const windowsOf = (minute: [r: number, t: number], day: [r: number, t: number]): Told['windows'] => ({
  minute: { q: 60, w: 60, r: minute[0], t: minute[1] },
  day: { q: 1000, w: 86_400, r: day[0], t: day[1] },
});

test.each<[string, () => Record<string, string>, Partial<Told>]>([
  [
    'before the first request',
    () => send(0),
    { limit: 60, remaining: 60, retryAfter: undefined, windows: windowsOf([60, 60], [1000, 86_400]) },
  ],
  [
    'after a request of cost 3',
    () => send(1, 3),
    { limit: 60, remaining: 57, reset: 1_800_000_061, retryAfter: undefined },
  ],
  [
    'after the last request of the minute',
    () => {
      send(59);
      now += 1500;
      return send(1);
    },
    { remaining: 0, reset: 1_800_000_061, retryAfter: undefined, windows: windowsOf([0, 59], [940, 86_399]) },
  ],
  [
    'of the day window if the day has fewer requests left than the minute',
    () => {
      quota = { perMinute: 60, perDay: 61 };
      send(1, 50);
      now += 60_000;
      return send(1);
    },
    { limit: 61, remaining: 10, reset: 1_800_086_401 },
  ],
  ['after an operation that is too complex', () => send(1, 61), { remaining: 60, retryAfter: undefined }],
  ['after a rejection', () => send(61), { remaining: 0, retryAfter: 60 }],
  [
    'after a rejection just before the minute ends',
    () => {
      send(60);
      now += 59_999;
      return send(1);
    },
    { retryAfter: 1 },
  ],
  [
    'after the rejection of a request that uses no quota',
    () => send(601, 1, 'free'),
    {
      limit: 600,
      remaining: 0,
      retryAfter: 60,
      windows: { ...windowsOf([60, 60], [1000, 86_400]), uncounted: { q: 600, w: 60, r: 0, t: 60 } },
    },
  ],
  [
    'of a banned caller',
    () => {
      send(60);
      now += 59_000;
      send(20);
      now += 1;
      return send(1, 1, 'free');
    },
    { limit: 60, remaining: 0, retryAfter: 60 },
  ],
])('the headers show the status %s', (_when, headers, told) => {
  expect(toldBy(headers())).toMatchObject(told);
});

test('a request after Retry-After seconds is allowed', () => {
  send(60);
  now += 12_345;
  const { retryAfter } = toldBy(send(1));
  expect(retryAfter).toBe(48);
  now += Number(retryAfter) * 1000;
  expect(send(1)).not.toHaveProperty('retry-after');
});

test('RATE_LIMIT_HEADER_NAMES contains all headers that are set', () => {
  expect(Object.keys(send(61))).toEqual(RATE_LIMIT_HEADER_NAMES.map((name) => name.toLowerCase()));
});

test('for any limit status, the header values are integers of at least 0, and Retry-After is at least 1', () => {
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
  const statuses = fc.tuple(windowOf('minute'), windowOf('day'), windowOf('uncounted'), number).map(
    ([minute, day, inForce, retryAfterMs]): LimitStatus => ({
      verdict: 'banned',
      quota: { perMinute: minute.limit, perDay: day.limit },
      windows: [minute, day],
      inForce,
      retryAfterMs,
      bannedUntil: undefined,
    }),
  );
  // `toldBy` throws if a value is not an integer of at least 0.
  const property = fc.property(statuses, fc.nat(), (status, at) => {
    expect(toldBy(rateLimitHeaders(status, at)).retryAfter).toBeGreaterThanOrEqual(1);
  });
  fc.assert(property);
});
