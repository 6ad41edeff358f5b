const FIRST_MS = 100;
const LONGEST_MS = 30_000;
/** Who has lived for so long did not end because of how it started. */
const STEADY_MS = 60_000;

/** How long to wait before what has ended is started again: twice as long each time, unless it has lived for long. */
export class BackOff {
  private nextMs = FIRST_MS;

  /** @param lived how long it has lived, in milliseconds. */
  after(lived: number): number {
    if (lived >= STEADY_MS) this.nextMs = FIRST_MS;
    const wait = this.nextMs;
    this.nextMs = Math.min(LONGEST_MS, wait * 2);
    return wait;
  }
}
