/** Maximum delay with which the end of a deadline is noticed, in milliseconds. */
const TICK_MS = 10;

/**
 * The end of the work for one operation: its time limit, or the moment at which the client disconnects. Afterwards nothing of
 * the work starts, waiting statements are dropped, and running statements are cancelled, except reads on shared connections.
 *
 * It serves the purpose of an `AbortSignal`. An `AbortSignal` with a listener takes 9 µs of each request; a deadline takes
 * less than 1 µs, since most operations need no timer.
 */
export class Deadline {
  private readonly endsAt: number;
  /** Most operations have no listeners. */
  private listeners: (() => void)[] | undefined;
  private timer: NodeJS.Timeout | undefined;
  private cause: Ended | undefined;

  /** @param ms how long the operation may take, from now on. */
  constructor(readonly ms: number) {
    this.endsAt = performance.now() + ms;
  }

  /** The error of statements after the end; `undefined` before. */
  get reason(): Ended | undefined {
    if (!this.cause && performance.now() >= this.endsAt) this.end(overdue(this.ms));
    return this.cause;
  }

  /** @throws Ended once it is over. */
  check(): void {
    const { reason } = this;
    if (reason) throw reason;
  }

  /** Ends the work now, unless it is over. */
  end(reason: Ended = UNWANTED): void {
    if (this.cause) return;
    this.cause = reason;
    clearTimeout(this.timer);
    const { listeners } = this;
    this.listeners = undefined;
    while (listeners?.length) listeners.shift()?.();
  }

  /**
   * Calls back once, when it ends; at once if it has.
   * @returns a function that removes the listener.
   */
  onEnd(listener: () => void): () => void {
    if (this.reason) {
      listener();
      return () => undefined;
    }
    this.listeners ??= [];
    const { listeners } = this;
    listeners.push(listener);
    this.timer ??= setTimeout(() => this.end(overdue(this.ms)), roundUp(this.endsAt - performance.now())).unref();
    return () => {
      const index = listeners.indexOf(listener);
      if (index >= 0) listeners.splice(index, 1);
    };
  }
}

/** Node keeps one list of timers for each duration, so that many different durations would be expensive. */
function roundUp(ms: number): number {
  return Math.ceil(ms / TICK_MS) * TICK_MS;
}

/** The work was cancelled and changed nothing. */
export class Ended extends Error {}

/** One instance for all requests, since a stack trace takes 16 µs. */
export const UNWANTED = new Ended('Nobody waits for this any more.');

/** The work was cancelled, or its connection lost, after its commit had been sent: the outcome is unknown. */
export class OutcomeUnknown extends Error {}

function overdue(ms: number): Ended {
  return new Ended(`This took longer than the ${ms} ms that a request may take, and was cancelled.`);
}

/** The caller and the deadline of statements. */
export interface Work {
  /** The id of the caller: callers share connections fairly. */
  readonly caller: string;
  readonly deadline: Deadline;
  /** Maximum number of bytes of the rows of a statement whose size depends on the caller's selection. Unlimited by default. */
  readonly mostBytes?: number;
}
