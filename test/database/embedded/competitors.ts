/** The number of processes that compete for a lock. */
export const COMPETITORS = 6;
