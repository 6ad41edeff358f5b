/**
 * The state of an unknown caller, and everything stored about one: plain numbers, the same in memory and Redis. Stores
 * what is used rather than what is left, so a change of plan applies at once. Times are milliseconds of the Unix epoch,
 * 0 if nothing is running.
 */
export function newState() {
  return {
    minuteUsed: 0,
    minuteEnds: 0,
    dayUsed: 0,
    dayEnds: 0,
    /** Requests free of quota in the minute that ends at `freeEnds`. */
    freeUsed: 0,
    freeEnds: 0,
    /** Refused requests, reset when the window that refused them ends. */
    refusals: 0,
    refusalsEnd: 0,
    /** Successive bans, reset after a day without a new one. */
    bans: 0,
    bansEnd: 0,
    bannedUntil: 0,
  };
}

export type State = ReturnType<typeof newState>;

export const STATE_FIELDS = Object.keys(newState()) as readonly (keyof State)[];

/** When everything in it has ended: from then on the caller is treated as unknown. */
export function lastEnd(state: State): number {
  return Math.max(state.minuteEnds, state.dayEnds, state.freeEnds, state.refusalsEnd, state.bansEnd, state.bannedUntil);
}
