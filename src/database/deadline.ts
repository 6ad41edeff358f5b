/** Timers of deadlines are rounded up to a multiple of this many milliseconds. */
const TICK_MS = 10;

/**
 * Ends one operation when its time limit is reached, or earlier if the client disconnects. After the end, the operation
 * starts no statements, waiting statements are dropped, and running statements are cancelled. Two kinds of running
 * statements are not cancelled: reads on shared connections, and statements of the embedded database.
 *
 * An `AbortSignal` with a listener would cost several times as much in each request (bench/README.md): most operations need
 * no timer.
 */
export class Deadline {
  private readonly endsAt: number;
  /** Created on demand, since most operations have no listeners. */
  private listeners: (() => void)[] | undefined;
  private timer: NodeJS.Timeout | undefined;
  private cause: Ended | undefined;

  /** @param ms how long the operation may take, from now on. */
  constructor(readonly ms: number) {
    this.endsAt = performance.now() + ms;
  }

  /** The error with which statements are rejected once the operation has ended; `undefined` until then. */
  get reason(): Ended | undefined {
    if (!this.cause && performance.now() >= this.endsAt) this.end(overdue(this.ms));
    return this.cause;
  }

  /** @throws Ended if the operation has ended. */
  check(): void {
    const { reason } = this;
    if (reason) throw reason;
  }

  /** Ends the operation now, unless it has already ended. */
  end(reason: Ended = UNWANTED): void {
    if (this.cause) return;
    this.cause = reason;
    clearTimeout(this.timer);
    const { listeners } = this;
    this.listeners = undefined;
    while (listeners?.length) listeners.shift()?.();
  }

  /**
   * Calls the listener once, when the operation ends. If the operation has already ended, calls the listener immediately.
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

/** Node.js keeps one list of timers per duration, so many different durations would be expensive. */
function roundUp(ms: number): number {
  return Math.ceil(ms / TICK_MS) * TICK_MS;
}

/** The work was cancelled and changed nothing. */
export class Ended extends Error {}

/** One instance for all requests, since each new error would record a stack trace. */
export const UNWANTED = new Ended('The result is no longer needed.');

/** The work was cancelled, or its connection was lost, after its commit had been sent. So the outcome is unknown. */
export class OutcomeUnknown extends Error {}

function overdue(ms: number): Ended {
  return new Ended(`The request took longer than the limit of ${ms} ms, and was cancelled.`);
}
