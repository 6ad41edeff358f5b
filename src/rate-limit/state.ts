/**
 * Everything stored about one caller: plain numbers, the same in memory and Redis. Stores what is used rather than what
 * is left, so a change of plan applies at once. Times are milliseconds of the Unix epoch, 0 if nothing is running.
 */
export interface State {
  minuteUsed: number;
  minuteEnds: number;
  dayUsed: number;
  dayEnds: number;
  /** Requests free of quota in the minute that ends at `freeEnds`. */
  freeUsed: number;
  freeEnds: number;
  /** Refused requests, reset when the window that refused them ends. */
  refusals: number;
  refusalsEnd: number;
  /** Successive bans, reset after a day without a new one. */
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

/** The state of an unknown caller. */
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

/** When everything in it has ended: from then on the caller is treated as unknown. */
export function lastEnd(state: State): number {
  return Math.max(state.minuteEnds, state.dayEnds, state.freeEnds, state.refusalsEnd, state.bansEnd, state.bannedUntil);
}
