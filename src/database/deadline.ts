import { failureOf } from './failures';

/** Timers of deadlines are rounded up to a multiple of this many milliseconds. */
const TICK_MS = 10;

/** How long after a statement's deadline the gateway still waits for its outcome, in milliseconds. */
export const GRACE_MS = 500;

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

/**
 * Waits for the outcome of a statement or transaction, until {@link GRACE_MS} after the deadline. At the deadline,
 * `cancelAtDeadline` asks a server to cancel the statement (`postgres/bounded-pool.ts`).
 * @param isSent returns whether a commit, or a write outside of a transaction, has already been sent.
 * @param drop drops the statement or transaction at the deadline, and returns whether it will certainly change nothing. Only
 * the embedded database, which cannot cancel, needs this.
 * @throws Ended, OutcomeUnknown, otherwise the error of the statement.
 */
export function settled<T>(
  running: Promise<T>,
  deadline: Deadline,
  isSent: () => boolean,
  drop?: () => boolean,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = deadline.onEnd(() => {
      if (drop?.()) return reject(deadline.reason);
      setTimeout(() => reject(isSent() ? unconfirmed() : deadline.reason), GRACE_MS).unref();
    });
    running.then(
      (result) => {
        stop();
        const { reason } = deadline;
        // If a commit is cancelled while it waits for a synchronous standby, PostgreSQL reports success, although the
        // standby may lack the commit. So the outcome is reported as unknown, unless the client has disconnected (`UNWANTED`).
        if (!drop && reason && reason !== UNWANTED && isSent()) reject(unconfirmed());
        else resolve(result);
      },
      (error: unknown) => {
        stop();
        reject(reported(error, deadline, isSent()));
      },
    );
  });
}

/** The error to report for an error of the driver. @param isSent see {@link settled}. */
function reported(error: unknown, deadline: Deadline, isSent: boolean): unknown {
  const failure = failureOf(error);
  if (isSent && failure === 'unavailable') return unconfirmed(error);
  const isCut = failure === 'unavailable' || failure === 'timeout' || isCausedByEnd(error);
  return isCut && deadline.reason ? deadline.reason : error;
}

/** Whether the deadline caused the error. Prisma may wrap the deadline's reason in a Prisma error. */
function isCausedByEnd(error: unknown): boolean {
  return error instanceof Ended || (error instanceof Error && error.cause instanceof Ended);
}

export function unconfirmed(cause?: unknown): OutcomeUnknown {
  return new OutcomeUnknown('The commit was sent but not confirmed.', { cause });
}
