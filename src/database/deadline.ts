/** How much later than it is over a deadline may be noticed, in milliseconds. */
const TICK_MS = 10;

/**
 * When the work for one operation has to end: when its time is up, or earlier, once nobody waits for it any more. Nothing
 * of it starts afterwards, what waits is dropped, and what runs is cancelled.
 *
 * It does what an `AbortSignal` is for; that one and a listener take 9 µs of each request, this takes less than one, since
 * most operations never wait for it.
 */
export class Deadline {
  private readonly endsAt: number;
  /** Most operations never have any. */
  private listeners: (() => void)[] | undefined;
  private timer: NodeJS.Timeout | undefined;
  private cause: Ended | undefined;

  /** @param ms how long the operation may take, from now on. */
  constructor(readonly ms: number) {
    this.endsAt = performance.now() + ms;
  }

  /** Why nothing may start any more; `undefined` while there is time. */
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

/** Node keeps timers in one list for each duration, and makes and drops lists all the time if every duration is another. */
function roundUp(ms: number): number {
  return Math.ceil(ms / TICK_MS) * TICK_MS;
}

/** The work was ended before it was done, and changed nothing. */
export class Ended extends Error {}

/** One for all: every request ends, and a stack trace would take 16 µs of each. */
export const UNWANTED = new Ended('Nobody waits for this any more.');

/** The work was ended, or its connection lost, after its commit had been sent: it may or may not have been done. */
export class OutcomeUnknown extends Error {}

function overdue(ms: number): Ended {
  return new Ended(`This took longer than the ${ms} ms that a request may take, and was cancelled.`);
}

/** On whose behalf statements run, and until when. */
export interface Work {
  /** The id of the caller: callers share connections fairly. */
  readonly caller: string;
  readonly deadline: Deadline;
  /** How many bytes the rows of a statement may have that a caller's selection could make many; if unset, any number. */
  readonly mostBytes?: number;
}
