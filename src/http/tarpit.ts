/** Refusals that a caller gets at once in each period, and the period in milliseconds. */
const AT_ONCE = 10;
const PERIOD_MS = 100;
/** How many wait at most; more are not made to, since each takes a place among the requests in progress. */
const MAX_WAITING = 100;

/**
 * Makes those wait who go on asking while they are banned: beyond {@link AT_ONCE} refusals in a period, the next ones come
 * with the end of the period. A flood sends as fast as it is answered, so this is what it slows down to, and others hardly
 * notice it.
 */
export class Tarpit {
  private readonly refusals = new Map<string, number>();
  private waiting: (() => void)[] = [];
  private period: NodeJS.Timeout | undefined;

  /** Lets a caller have its refusal, now or soon. */
  refuse(caller: string, answer: () => void): void {
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
