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

export const STATE_FIELDS = Object.keys(newState()) as readonly (keyof State)[];
