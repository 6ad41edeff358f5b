import type { ErrorEntry } from '../errors/codes';
import { ExpectedError } from '../errors/errors';

/** The error codes of the change feed. */
export const FEED_ERRORS = {
  CURSOR_EXPIRED: {
    status: 410,
    why: 'The events that follow this cursor are no longer kept, or the database was restored to an earlier state. Events may be missing.',
    fix: 'Read the objects again, and continue from the cursor `now`. Or continue from the cursor `oldest` in the `params` of `details`, which is just before the oldest event that is kept.',
    message: 'The events that follow this cursor are no longer kept.',
  },
} as const satisfies Record<string, ErrorEntry>;

/**
 * The error for a cursor whose next events are no longer kept.
 * @param oldest the cursor just before the oldest event that is kept.
 */
export function cursorExpired(oldest: string): ExpectedError {
  const { status, message } = FEED_ERRORS.CURSOR_EXPIRED;
  const fault = { path: 'after', message: 'the events that follow this cursor are no longer kept', params: { oldest } };
  return new ExpectedError('CURSOR_EXPIRED', status, message, [fault]);
}
