const FIRST_MS = 100;
const LONGEST_MS = 30_000;
/** A process that ran for this long did not fail because of how it started. */
const STEADY_MS = 60_000;

/** Delay before a process is restarted: doubled each time, and reset once a process has run for long. */
export class BackOff {
  private nextMs = FIRST_MS;

  /** @param lived how long the process ran, in milliseconds. */
  after(lived: number): number {
    if (lived >= STEADY_MS) this.nextMs = FIRST_MS;
    const wait = this.nextMs;
    this.nextMs = Math.min(LONGEST_MS, wait * 2);
    return wait;
  }
}
