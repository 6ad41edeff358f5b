import { DAY_MS, FREE_FACTOR, MINUTE_MS, type Quota } from './plans';

/**
 * `counted` requests use quota. `free` requests use no quota, but have a separate limit. A `page` is a free
 * request that is allowed during a ban.
 */
export type RequestKind = 'counted' | 'free' | 'page';

/**
 * - `allowed`: the requests are taken from both windows; a free request is taken from the limit on free requests instead;
 * - `limited`: the requests would exceed a window, or the limit on free requests; nothing is taken;
 * - `banned`: the caller is banned after too many rejections; nothing is taken, and the ban is not extended;
 * - `too-expensive`: the requests exceed a whole window, so waiting does not help; nothing is taken.
 */
export type Verdict = 'allowed' | 'limited' | 'banned' | 'too-expensive';

/** The number of rejections after which a caller is banned (`banAfter`, at least 1), and how long bans last. */
export interface BanRules {
  readonly banAfter: number;
  readonly banSeconds: number;
  readonly banMaxSeconds: number;
}

/**
 * The rate-limit rules (docs/limits.md), applied to one caller's state, which is modified. The Redis store's script implements
 * the same rules in Lua; tests keep the two consistent.
 *
 * - A window starts with the caller's first counted request and ends a minute or a day later.
 * - Requests are taken from both windows or from neither.
 * - A window or ban whose remaining time exceeds its length counts as over: the clock was set back.
 * - Rejections count until the exceeded window ends. Rejection number `banAfter` starts a ban, which the response reports. A ban
 *   that starts within a day of the start of the previous ban is twice as long, up to `banMaxSeconds`.
 * @param requests a whole number, at least 1; ignored for a free request, which counts as one request.
 */
export function take(
  state: State,
  quota: Quota,
  requests: number,
  kind: RequestKind,
  bans: BanRules,
  now: number,
): Verdict {
  forget(state, bans, now);
  const isExempt = kind === 'page' && hasFree(state, quota);
  if (isBanned(state, now) && !isExempt) return 'banned';
  return kind === 'counted' ? takeCounted(state, quota, requests, bans, now) : takeFree(state, quota, bans, now);
}

/** Whether requests exceed a whole window, so that waiting does not help. */
export function exceedsQuota(requests: number, quota: Quota): boolean {
  return !(requests <= quota.perMinute && requests <= quota.perDay);
}

/** The current verdict on a caller: `banned` or `allowed`. Charges no request. */
export function look(state: State, bans: BanRules, now: number): Verdict {
  forget(state, bans, now);
  return isBanned(state, now) ? 'banned' : 'allowed';
}

/** Lifts a ban. The ban still makes the next ban longer. @returns whether the caller was banned. */
export function lift(state: State, bans: BanRules, now: number): boolean {
  forget(state, bans, now);
  if (!isBanned(state, now)) return false;
  state.bannedUntil = 0;
  return true;
}

/** The comparisons in this file are written so that a value that is not a number rejects the request. */
function isBanned({ bannedUntil }: State, now: number): boolean {
  return !(bannedUntil <= now);
}

function takeCounted(state: State, quota: Quota, requests: number, bans: BanRules, now: number): Verdict {
  if (exceedsQuota(requests, quota)) return 'too-expensive';
  const overMinute = !(state.minuteUsed + requests <= quota.perMinute);
  const overDay = !(state.dayUsed + requests <= quota.perDay);
  if (overMinute || overDay) {
    reject(state, Math.max(overMinute ? state.minuteEnds : 0, overDay ? state.dayEnds : 0), bans, now);
    return 'limited';
  }
  if (state.minuteEnds === 0) state.minuteEnds = now + MINUTE_MS;
  if (state.dayEnds === 0) state.dayEnds = now + DAY_MS;
  state.minuteUsed += requests;
  state.dayUsed += requests;
  return 'allowed';
}

function takeFree(state: State, quota: Quota, bans: BanRules, now: number): Verdict {
  if (!hasFree(state, quota)) {
    reject(state, state.freeEnds, bans, now);
    return 'limited';
  }
  if (state.freeEnds === 0) state.freeEnds = now + MINUTE_MS;
  state.freeUsed += 1;
  return 'allowed';
}

function hasFree(state: State, quota: Quota): boolean {
  return state.freeUsed < quota.perMinute * FREE_FACTOR;
}

function reject(state: State, windowEnds: number, bans: BanRules, now: number): void {
  state.refusals += 1;
  state.refusalsEnd = Math.max(state.refusalsEnd, windowEnds);
  if (state.refusals < bans.banAfter) return;
  state.bans += 1;
  state.bannedUntil = now + banMs(state, bans);
  state.bansEnd = now + DAY_MS;
  state.refusals = 0;
  state.refusalsEnd = 0;
}

/** How long the latest ban lasts, in milliseconds. */
function banMs({ bans }: State, { banSeconds, banMaxSeconds }: BanRules): number {
  return Math.min(banSeconds * 2 ** Math.max(bans - 1, 0), banMaxSeconds) * 1000;
}

/**
 * Whether a window or ban that lasts `length` milliseconds is over. If the remaining time exceeds the length, the clock was set
 * back in the meantime. The window or ban then counts as over, since its correct remaining time is unknown.
 */
function isOver(ends: number, length: number, now: number): boolean {
  return ends <= now || ends > now + length;
}

function forget(state: State, bans: BanRules, now: number): void {
  if (isOver(state.bannedUntil, banMs(state, bans), now)) state.bannedUntil = 0;
  if (isOver(state.minuteEnds, MINUTE_MS, now)) {
    state.minuteUsed = 0;
    state.minuteEnds = 0;
  }
  if (isOver(state.dayEnds, DAY_MS, now)) {
    state.dayUsed = 0;
    state.dayEnds = 0;
  }
  if (isOver(state.freeEnds, MINUTE_MS, now)) {
    state.freeUsed = 0;
    state.freeEnds = 0;
  }
  // Rejections end with the window that they exceeded.
  if (state.refusalsEnd <= now || state.refusalsEnd > Math.max(state.minuteEnds, state.dayEnds, state.freeEnds)) {
    state.refusals = 0;
    state.refusalsEnd = 0;
  }
  // The length of a ban follows from the number of bans, so the number is kept during a ban that is longer than a day.
  if (state.bannedUntil === 0 && isOver(state.bansEnd, DAY_MS, now)) {
    state.bans = 0;
    state.bansEnd = 0;
  }
}

/**
 * The state of a new caller. States are plain numbers, the same in memory and in Redis. They hold the number of used
 * requests instead of remaining requests, so a change of plan applies at once. Times are milliseconds since the Unix epoch, 0
 * if not set.
 */
export function newState() {
  return {
    minuteUsed: 0,
    minuteEnds: 0,
    dayUsed: 0,
    dayEnds: 0,
    /** Free requests (which use no quota) in the minute that ends at `freeEnds`. */
    freeUsed: 0,
    freeEnds: 0,
    /** Rejected requests, reset when the exceeded window ends. */
    refusals: 0,
    refusalsEnd: 0,
    /** Successive bans, reset after a day without a new ban. */
    bans: 0,
    bansEnd: 0,
    bannedUntil: 0,
  };
}

export type State = ReturnType<typeof newState>;

/** The fields of the windows. The other fields are about rejections and bans. */
export const WINDOW_FIELDS = [
  'minuteUsed',
  'minuteEnds',
  'dayUsed',
  'dayEnds',
  'freeUsed',
  'freeEnds',
] as const satisfies readonly (keyof State)[];

/** Copies the windows of a caller, for a caller that shares them. */
export function copyWindows(from: Readonly<State>, to: State): void {
  for (const field of WINDOW_FIELDS) to[field] = from[field];
}

export const STATE_FIELDS = Object.keys(newState()) as readonly (keyof State)[];
