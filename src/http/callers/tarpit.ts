/** Refusals per caller and period that are sent at once, and the length of the period in milliseconds. */
const AT_ONCE = 10;
const PERIOD_MS = 100;
/** Maximum number of delayed refusals; any more are sent at once, since each occupies a request in progress. */
const MAX_WAITING = 100;

/**
 * Slows down callers that keep sending requests while banned: after {@link AT_ONCE} refusals in a period, further ones
 * are delayed until its end. A flood sends only as fast as it gets responses, so it slows down to this rate and other
 * callers hardly notice it.
 */
export class Tarpit {
  private readonly refusals = new Map<string, number>();
  private waiting: (() => void)[] = [];
  private period: NodeJS.Timeout | undefined;

  /** Answers a banned caller, now or at the end of the period. */
  delay(caller: string, answer: () => void): void {
    const times = (this.refusals.get(caller) ?? 0) + 1;
    this.refusals.set(caller, times);
    this.period ??= setTimeout(() => this.release(), PERIOD_MS);
    if (times > AT_ONCE && this.waiting.length < MAX_WAITING) this.waiting.push(answer);
    else answer();
  }

  private release(): void {
    const answers = this.waiting;
    this.period = undefined;
    this.waiting = [];
    this.refusals.clear();
    for (const answer of answers) answer();
  }
}
