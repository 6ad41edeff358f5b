import fc from 'fast-check';
import { type LimitStatus, limitStatusOf } from '../../src/rate-limit/limit-status';
import type { Quota } from '../../src/rate-limit/plans';
import { newState, type RequestKind, type State, take, type Verdict } from '../../src/rate-limit/rules';

const bans = { banAfter: 3, banSeconds: 20, banMaxSeconds: 70 };

interface Request {
  readonly at: number;
  readonly cost: number;
  readonly kind: RequestKind;
  readonly quota: Quota;
}

/** Random requests of one caller. The plan keeps changing, and many requests arrive just when a window or ban ends. */
const requests: fc.Arbitrary<Request[]> = fc
  .array(
    fc.record({
      wait: fc.constantFrom(0, 0, 0, 0, 1, 1000, 20_000, 59_999, 60_000, 100_000, 3_600_000, 86_340_000, 86_400_000),
      cost: fc.constantFrom(1, 1, 1, 2, 3, 6),
      kind: fc.constantFrom<RequestKind>('counted', 'counted', 'free', 'page'),
      quota: fc.constantFrom({ perMinute: 2, perDay: 6 }, { perMinute: 3, perDay: 3 }, { perMinute: 5, perDay: 50 }),
      times: fc.constantFrom(1, 1, 1, 4, 24),
    }),
    { maxLength: 40 },
  )
  .map((steps) => {
    let at = 1_800_000_000_000;
    return steps.flatMap(({ wait, times, ...request }) => {
      at += wait;
      return Array.from({ length: times }, () => ({ ...request, at }));
    });
  });

/** Decides each request in turn. `state` is a copy of the state after the request. */
function run(sequence: readonly Request[]): (Request & { state: State; status: LimitStatus; verdict: Verdict })[] {
  const state = newState();
  return sequence.map((request) => {
    const { quota, cost, kind, at } = request;
    const verdict = take(state, quota, cost, kind, bans, at);
    return {
      ...request,
      verdict,
      state: { ...state },
      status: limitStatusOf(verdict, state, quota, cost, kind, at),
    };
  });
}

describe('the rules', () => {
  test('allow a rejected request after the reported wait, and not before', () => {
    let refused = 0;
    fc.assert(
      fc.property(requests, (sequence) => {
        const verdicts = run(sequence)
          .filter(({ verdict }) => verdict === 'limited' || verdict === 'banned')
          .filter(({ cost, quota }) => cost <= Math.min(quota.perMinute, quota.perDay))
          .map(({ state, status, quota, cost, kind, at }) => {
            const then = at + (status.retryAfterMs ?? Number.NaN);
            const onTime = take({ ...state }, quota, cost, kind, bans, then);
            const early = take({ ...state }, quota, cost, kind, bans, then - 1);
            // A banned caller must wait until the used-up quota resets. Only a free request can be allowed earlier.
            return { onTime, early: kind === 'counted' && early === 'allowed' };
          });
        refused += verdicts.length;
        expect(verdicts).toEqual(verdicts.map(() => ({ onTime: 'allowed', early: false })));
      }),
      { numRuns: 500 },
    );
    expect(refused).toBeGreaterThan(100);
  });

  test('never report fewer than 0 remaining requests, or a window that has ended', () => {
    fc.assert(
      fc.property(requests, (sequence) => {
        const wrong = run(sequence).flatMap(({ status, at }) =>
          [...status.windows, status.inForce].filter(
            ({ limit, used, remaining, resetAt, seconds }) =>
              remaining !== Math.max(0, limit - used) || resetAt <= at || resetAt > at + seconds * 1000,
          ),
        );
        expect(wrong).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });
});

describe('a value that is not a number rejects the request', () => {
  const quota = { perMinute: 5, perDay: 50 };
  const now = 1_800_000_000_000;
  test.each<[string, Partial<State>, Quota, number]>([
    ['a quota per minute', {}, { ...quota, perMinute: Number.NaN }, 1],
    ['a quota per day', {}, { ...quota, perDay: Number.NaN }, 1],
    ['a cost', {}, quota, Number.NaN],
    ['the used requests of a minute', { minuteUsed: Number.NaN, minuteEnds: now + 1 }, quota, 1],
    ['the used requests of a day', { dayUsed: Number.NaN, dayEnds: now + 1 }, quota, 1],
    ['the end of a ban', { bannedUntil: Number.NaN }, quota, 1],
  ])('%s', (_what, fields, given, cost) => {
    const state = { ...newState(), ...fields };
    expect(take(state, given, cost, 'counted', bans, now)).not.toBe('allowed');
  });
});
