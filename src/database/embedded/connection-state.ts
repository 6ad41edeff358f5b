/** The state that both threads of a connection to the embedded database share. */
export type ConnectionState = Int32Array<SharedArrayBuffer>;

/** Bytes that the worker has sent and the client has not read. */
const UNREAD = 0;
const WORK = 1;

/** Values of `WORK`. */
const WAITING = 0;
const STARTED = 1;
const DROPPED = 2;

/** How many bytes the client may leave unread before the worker waits for it. */
const MAX_UNREAD = 1024 * 1024;
const CLOSED = -(2 ** 30);

export function createState(): ConnectionState {
  return new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));
}

/**
 * Called by the worker before it sends `bytes` more: waits until the client has read enough. PGlite cannot pause a statement,
 * so the thread waits. The client reads in another thread.
 */
export function waitForReader(state: ConnectionState, bytes: number): void {
  for (let unread = Atomics.load(state, UNREAD); unread > MAX_UNREAD; unread = Atomics.load(state, UNREAD))
    Atomics.wait(state, UNREAD, unread);
  Atomics.add(state, UNREAD, bytes);
}

/** The client has read these bytes. */
export function reportRead(state: ConnectionState, bytes: number): void {
  Atomics.sub(state, UNREAD, bytes);
  Atomics.notify(state, UNREAD);
}

/** The client reads nothing any more. */
export function reportClosed(state: ConnectionState): void {
  Atomics.store(state, UNREAD, CLOSED);
  Atomics.notify(state, UNREAD);
}

/** Whether a connection that has no transaction may start what it has sent: the client may have dropped it. */
export function mayStart(state: ConnectionState): boolean {
  return Atomics.compareExchange(state, WORK, WAITING, STARTED) !== DROPPED;
}

/** The statement or transaction is over. */
export function reportIdle(state: ConnectionState): void {
  Atomics.store(state, WORK, WAITING);
}

/** Drops what the client has sent, unless it has started. @returns whether nothing of it will run, until {@link allow}. */
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
