/**
 * What the client's thread and the worker agree on: a message before each statement, and memory that says which statements
 * have started. Messages have a byte for their type, an Int32 for their length without the type byte, and fields (PostgreSQL
 * documentation, "Message Formats").
 */

/** How many statements and transactions may be sent and not answered yet. */
export const MAX_IN_FLIGHT = 32;

/** Type of the message before a statement. PostgreSQL has no such type; the worker removes the message. */
export const MARK = 1;

/** @param isShort whether earlier responses may wait until the statement has ended. */
export function mark(slot: number, isShort: boolean): Buffer {
  return Buffer.from([MARK, 0, 0, 0, 6, slot, isShort ? 1 : 0]);
}

/**
 * The state of each statement or transaction in flight. At its deadline, a statement that has not started is dropped, so the
 * gateway knows that it changes nothing. Otherwise the outcome of each write that waits for a slow statement would be unknown
 * at the deadline of the write.
 */
export type Slots = Int32Array<SharedArrayBuffer>;

export const createSlots = (): Slots => new Int32Array(new SharedArrayBuffer(4 * MAX_IN_FLIGHT));

const WAITING = 0;
const STARTED = 1;
const DROPPED = 2;

/** Called before a slot is used again. */
export const clear = (slots: Slots, slot: number) => Atomics.store(slots, slot, WAITING);

/** Called at the deadline. @returns false if the statement or transaction has started. */
export const drop = (slots: Slots, slot: number) => Atomics.compareExchange(slots, slot, WAITING, DROPPED) !== STARTED;

/** Called by the worker before it runs a statement. @returns false if the statement or transaction was dropped. */
export const mayStart = (slots: Slots, slot: number) =>
  Atomics.compareExchange(slots, slot, WAITING, STARTED) !== DROPPED;
