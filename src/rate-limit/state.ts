/**
 * All that is kept of one caller: plain numbers, so that memory and Redis keep the same thing. What is used is kept, not
 * what is left, so a change of plan holds at once. Moments are milliseconds of the Unix epoch, 0 where nothing runs.
 */
export interface State {
  minuteUsed: number;
  minuteEnds: number;
  dayUsed: number;
  dayEnds: number;
  /** Requests free of quota in the minute that ends at `freeEnds`. */
  freeUsed: number;
  freeEnds: number;
  /** Refused requests, forgotten when the window that refused them has ended. */
  refusals: number;
  refusalsEnd: number;
  /** Bans in a row, forgotten after a day without a new one. */
  bans: number;
  bansEnd: number;
  bannedUntil: number;
}

export const STATE_FIELDS = [
  'minuteUsed',
  'minuteEnds',
  'dayUsed',
  'dayEnds',
  'freeUsed',
  'freeEnds',
  'refusals',
  'refusalsEnd',
  'bans',
  'bansEnd',
  'bannedUntil',
] as const satisfies readonly (keyof State)[];

/** A caller nothing is known of. */
export function newState(): State {
  return {
    minuteUsed: 0,
    minuteEnds: 0,
    dayUsed: 0,
    dayEnds: 0,
    freeUsed: 0,
    freeEnds: 0,
    refusals: 0,
    refusalsEnd: 0,
    bans: 0,
    bansEnd: 0,
    bannedUntil: 0,
  };
}

/** When the last of it ends: from then on the caller is as one nothing is known of. */
export function lastEnd(state: State): number {
  return Math.max(
    state.minuteEnds,
    state.dayEnds,
    state.freeEnds,
    state.refusalsEnd,
    state.bansEnd,
    state.bannedUntil,
  );
}
