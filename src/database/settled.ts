import { type Deadline, Ended, OutcomeUnknown, UNWANTED } from './deadline';
import { failureOf } from './failures';

/** How long after a statement's deadline the gateway still waits for its outcome, in milliseconds. */
export const GRACE_MS = 500;

/**
 * Waits for the outcome of a statement or transaction, until {@link GRACE_MS} after the deadline. At the deadline,
 * `cancelAtDeadline` asks a server to cancel the statement.
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
