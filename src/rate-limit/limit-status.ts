import { OperationRejection, type Problem } from '../errors/errors';
import { FREE_FACTOR, type Quota, WINDOWS } from './plans';
import { exceedsQuota, type RequestKind, type State, type Verdict } from './rules';

/** A caller whose requests are counted. `id` is a key id, a client address, or a user's id. */
export interface Subject {
  readonly id: string;
  readonly quota: Quota;
  /**
   * The caller in whose windows the requests are counted; by default the caller itself. Bans always apply to the caller itself.
   */
  readonly windowsOf?: string;
  /** The id that usage is recorded for; `undefined` for all anonymous callers together. */
  readonly recordedAs?: string;
}

/** One window as reported to a caller. `resetAt` is in milliseconds since the Unix epoch; `seconds` is the window's length. */
export interface Window {
  readonly name: 'minute' | 'day' | 'uncounted';
  readonly limit: number;
  readonly used: number;
  readonly remaining: number;
  readonly resetAt: number;
  readonly seconds: 60 | 86_400;
}

/** A caller's status after a request, as responses report it. */
export interface LimitStatus {
  readonly verdict: Verdict;
  readonly quota: Quota;
  readonly windows: readonly [minute: Window, day: Window];
  /**
   * The window with the fewest requests left, or the minute if both have the same number left. On a rejection, the exceeded
   * window; if several are exceeded, the window that ends last. Its name is `uncounted` if the limit on free requests was
   * exceeded.
   */
  readonly inForce: Window;
  /**
   * For the verdicts `limited` and `banned`, the time until the same request is allowed if the caller sends no other
   * requests. It is never too short.
   */
  readonly retryAfterMs: number | undefined;
  /**
   * The end of the ban, set only during a ban. If it is set and the verdict is `limited`, this rejection has started the
   * ban. During a ban, the verdict is `allowed` only for requests of the kind `page`.
   */
  readonly bannedUntil: number | undefined;
}

/** @param state the caller's state after the verdict. */
export function limitStatusOf(
  verdict: Verdict,
  state: State,
  quota: Quota,
  requests: number,
  kind: RequestKind,
  now: number,
): LimitStatus {
  const minute = windowOf('minute', quota.perMinute, state.minuteUsed, state.minuteEnds, now);
  const day = windowOf('day', quota.perDay, state.dayUsed, state.dayEnds, now);
  const windows = [minute, day] as const;
  const scarcest = day.remaining < minute.remaining ? day : minute;
  const bannedUntil = state.bannedUntil > now ? state.bannedUntil : undefined;
  if (verdict === 'allowed' || verdict === 'too-expensive') {
    return { verdict, quota, windows, inForce: scarcest, retryAfterMs: undefined, bannedUntil };
  }
  // The number of requests that must be left in a window. It is 1 for a free request, or if the requests exceed a whole window.
  const needed = kind !== 'counted' || exceedsQuota(requests, quota) ? 1 : requests;
  const ceiling = windowOf('uncounted', quota.perMinute * FREE_FACTOR, state.freeUsed, state.freeEnds, now);
  // Only the limit on free requests applies to a free request. For a banned caller, any exceeded window counts.
  const limiting = kind === 'counted' ? windows : verdict === 'banned' ? [...windows, ceiling] : [ceiling];
  const exceeded = limiting
    .filter(({ used, limit }) => used + needed > limit)
    .reduce<Window | undefined>((last, next) => (last && last.resetAt > next.resetAt ? last : next), undefined);
  const retryAfterMs = Math.max(exceeded?.resetAt ?? 0, bannedUntil ?? 0) - now;
  return { verdict, quota, windows, inForce: exceeded ?? scarcest, retryAfterMs, bannedUntil };
}

function windowOf(name: Window['name'], limit: number, used: number, ends: number, now: number): Window {
  const seconds = name === 'day' ? WINDOWS.day : WINDOWS.minute;
  return {
    name,
    limit,
    used,
    remaining: used < limit ? limit - used : 0,
    resetAt: ends === 0 ? now + seconds * 1000 : ends,
    seconds,
  };
}

/** The error for a request over the limit or from a banned caller; `undefined` otherwise. */
export function limitError(limitStatus: LimitStatus): OperationRejection | undefined {
  const problem = limitProblem(limitStatus);
  return problem && new OperationRejection(problem);
}

/** Like {@link limitError}, but without an `Error`, whose stack trace is too expensive under a flood of requests. */
export function limitProblem(limitStatus: LimitStatus): Problem | undefined {
  const { verdict, inForce, retryAfterMs = 0, bannedUntil = 0 } = limitStatus;
  if (verdict !== 'banned' && verdict !== 'limited') return undefined;
  const seconds = Math.max(1, Math.ceil(retryAfterMs / 1000));
  const retry = `Try again in ${seconds} second${seconds === 1 ? '' : 's'}.`;
  if (verdict === 'limited')
    return {
      code: 'RATE_LIMITED',
      status: 429,
      message: `${EXCEEDED[inForce.name](inForce.limit)} ${retry}`,
      retryAfter: seconds,
    };
  const message = `Banned until ${new Date(bannedUntil).toISOString()} after too many rejected requests. ${retry}`;
  return { code: 'KEY_BANNED', status: 429, message, retryAfter: seconds };
}

const EXCEEDED = {
  minute: (limit: number) => `This plan allows ${limit} requests per minute.`,
  day: (limit: number) => `This plan allows ${limit} requests per day.`,
  uncounted: (limit: number) => `Requests that use no quota are limited to ${limit} per minute.`,
};
