/** The state of one connection to the embedded database, in memory that the client's thread and the worker share. */
export type ConnectionState = Int32Array<SharedArrayBuffer>;

/** Index of a counter: the bytes that the worker has sent, but the client has not read yet. */
const UNREAD = 0;
/** Index of the state of the client's statements. */
const WORK = 1;

/** The values at index `WORK`. */
const WAITING = 0;
const STARTED = 1;
const DROPPED = 2;

/** How many sent bytes may be unread before the worker waits for the client. */
const MAX_UNREAD = 1024 * 1024;
const CLOSED = -(2 ** 30);

export function createState(): ConnectionState {
  return new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));
}

/**
 * Called by the worker before it sends `bytes` more bytes. Blocks the worker's thread until the client has read enough,
 * since PGlite cannot pause a statement in any other way. The client reads in a different thread, which is not blocked.
 */
export function waitForReader(state: ConnectionState, bytes: number): void {
  for (let unread = Atomics.load(state, UNREAD); unread > MAX_UNREAD; unread = Atomics.load(state, UNREAD))
    Atomics.wait(state, UNREAD, unread);
  Atomics.add(state, UNREAD, bytes);
}

/** Called by the client when it has read this many bytes. */
export function reportRead(state: ConnectionState, bytes: number): void {
  Atomics.sub(state, UNREAD, bytes);
  Atomics.notify(state, UNREAD);
}

/** Called by the client when it stops reading. From then on, the worker does not wait for the client. */
export function reportClosed(state: ConnectionState): void {
  Atomics.store(state, UNREAD, CLOSED);
  Atomics.notify(state, UNREAD);
}

/**
 * Called by the worker before it runs a client's statements outside of a transaction. Marks them as started.
 * @returns false if the client has dropped these statements.
 */
export function mayStart(state: ConnectionState): boolean {
  return Atomics.compareExchange(state, WORK, WAITING, STARTED) !== DROPPED;
}

/** Called by the worker when a statement or transaction has ended. */
export function reportIdle(state: ConnectionState): void {
  Atomics.store(state, WORK, WAITING);
}

/**
 * Drops the client's statements until {@link allow} is called, unless a statement has already started.
 * @returns whether the statements are dropped.
 */
export function drop(state: ConnectionState): boolean {
  return Atomics.compareExchange(state, WORK, WAITING, DROPPED) !== STARTED;
}

export function isDropped(state: ConnectionState): boolean {
  return Atomics.load(state, WORK) === DROPPED;
}

/** Lets the client's next statements start again. */
export function allow(state: ConnectionState): void {
  Atomics.compareExchange(state, WORK, DROPPED, WAITING);
}
