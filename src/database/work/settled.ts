import { failureOf } from '../failures';
import { type Deadline, Ended, OutcomeUnknown, UNWANTED } from './deadline';

/** How long, after its deadline, the server may take to say what became of a statement, in milliseconds. */
const GRACE_MS = 500;

/**
 * The result of what the server is asked to cancel at the deadline.
 * @param isSent whether, by now, something was sent that is a commit, or commits by itself.
 * @throws Ended, OutcomeUnknown, otherwise what it failed with.
 */
export async function settled<T>(running: Promise<T>, deadline: Deadline, isSent: () => boolean): Promise<T> {
  let stop = () => {};
  const late = new Promise<never>((_resolve, reject) => {
    stop = deadline.onEnd(() => {
      setTimeout(() => reject(isSent() ? unconfirmed() : deadline.reason), GRACE_MS).unref();
    });
  });
  try {
    const result = await Promise.race([running, late]);
    // A commit that is cancelled while it waits for a standby succeeds without it. If the client has left, nobody is told so.
    if (isSent() && deadline.reason && deadline.reason !== UNWANTED) throw unconfirmed();
    return result;
  } catch (error) {
    throw reported(error, deadline, isSent());
  } finally {
    stop();
  }
}

/** What is reported of something that failed with this error. @param isSent see {@link settled}. */
export function reported(error: unknown, deadline: Deadline, isSent: boolean): unknown {
  const failure = failureOf(error);
  if (isSent && failure === 'unavailable') return unconfirmed(error);
  const isCut = failure === 'unavailable' || failure === 'timeout' || isCausedByEnd(error);
  return isCut && deadline.reason ? deadline.reason : error;
}

/** Whether work was refused because of its deadline; Prisma may wrap the reason. */
function isCausedByEnd(error: unknown): boolean {
  return error instanceof Ended || (error instanceof Error && error.cause instanceof Ended);
}

function unconfirmed(cause?: unknown): OutcomeUnknown {
  return new OutcomeUnknown('The commit was sent, and not confirmed.', { cause });
}
