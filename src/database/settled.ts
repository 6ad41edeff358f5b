import { type Deadline, Ended, OutcomeUnknown, UNWANTED } from './deadline';
import { failureOf } from './failures';

/** How long after its deadline the gateway waits for the outcome of a statement, in milliseconds. */
const GRACE_MS = 500;

/**
 * Waits for the outcome of a statement or transaction that the server is asked to cancel at the deadline.
 * @param isSent whether a commit, or a statement that commits by itself, has been sent by now.
 * @param isCertain whether a success after the deadline is certain.
 * @throws Ended, OutcomeUnknown, otherwise the error of the statement.
 */
export function settled<T>(
  running: Promise<T>,
  deadline: Deadline,
  isSent: () => boolean,
  isCertain = false,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = deadline.onEnd(() => {
      setTimeout(() => reject(isSent() ? unconfirmed() : deadline.reason), GRACE_MS).unref();
    });
    running.then(
      (result) => {
        stop();
        const { reason } = deadline;
        // A commit that is cancelled while it waits for a standby succeeds without it. Without a client there is nothing to report.
        if (!isCertain && reason && reason !== UNWANTED && isSent()) reject(unconfirmed());
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
export function reported(error: unknown, deadline: Deadline, isSent: boolean): unknown {
  const failure = failureOf(error);
  if (isSent && failure === 'unavailable') return unconfirmed(error);
  const isCut = failure === 'unavailable' || failure === 'timeout' || isCausedByEnd(error);
  return isCut && deadline.reason ? deadline.reason : error;
}

/** Whether work was rejected because of its deadline; Prisma may wrap the reason. */
function isCausedByEnd(error: unknown): boolean {
  return error instanceof Ended || (error instanceof Error && error.cause instanceof Ended);
}

function unconfirmed(cause?: unknown): OutcomeUnknown {
  return new OutcomeUnknown('The commit was sent, and not confirmed.', { cause });
}
