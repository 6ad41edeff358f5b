/** How far a reply's clock difference may exceed the smallest one seen before a clock is assumed to have been changed. */
const TOLERANCE_MS = 50;

/**
 * How far this instance's clock is ahead of Redis's. Latency can only increase the observed difference, so the smallest
 * one seen is the most accurate; with it a window's end is the same in every reply, and never too early.
 */
export class RedisClock {
  private ahead = Number.POSITIVE_INFINITY;

  constructor(private readonly now: () => number) {}

  /** @param clock Redis's clock in the reply that has just arrived. */
  aheadOf(clock: number): number {
    const seen = this.now() - clock;
    if (seen < this.ahead || seen > this.ahead + TOLERANCE_MS) this.ahead = seen;
    return this.ahead;
  }
}
