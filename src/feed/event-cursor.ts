import { decodeCursor, encodeCursor, tagOf } from '../database/reading/cursor';
import type { Fault } from '../errors/errors';

const FEED = tagOf('events');

/** A place in the change feed: just after the event with this position. */
export interface Place {
  readonly position: bigint;
  /**
   * Identifies the event at this position. A cursor of another feed, or from before a restore, has another value, and so is not
   * valid.
   */
  readonly check: string;
}

export function encodeEventCursor({ position, check }: Place): string {
  return encodeCursor(FEED, { id: String(position), key: check });
}

/** The end of the feed, `now`, or a place shortly before it, such as `now-100`. */
export const NOW = /^now(?:-([1-9]\d?|100))?$/;

export const NOT_A_PLACE: Fault = { message: 'is not a cursor of the change feed' };

/** Whether a text names a place in the change feed. */
export function isPlace(text: string): boolean {
  return NOW.test(text) || decodeEventCursor(text) !== undefined;
}

/** @returns `undefined` if the text is not a cursor of the change feed. */
export function decodeEventCursor(cursor: string): Place | undefined {
  const bound = decodeCursor(FEED, 'text', cursor);
  return bound && { position: BigInt(bound.id), check: bound.key };
}

/** The place after an event. */
export function placeAfter({ position, id, at }: { position: bigint; id: bigint; at: Date }): Place {
  return { position, check: `${id} ${at.getTime()}` };
}
