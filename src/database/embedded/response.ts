import { Backend, fatalText, HEADER_BYTES, readyForQuery } from './protocol';

/** Number of bytes that are collected before they are sent together. PGlite outputs only 8 kB at a time. */
const CHUNK_BYTES = 64 * 1024;

/** PGlite's PostgreSQL has ended, as a server process does after a fatal error. */
export class SessionEnded extends Error {}

/** Collects PGlite's response to a batch, and sends it in chunks. One instance serves all batches. */
export class ResponseBuffer {
  private buffer = Buffer.allocUnsafeSlow(2 * CHUNK_BYTES);
  private length = 0;
  /** The offset at which the next message starts. It is beyond `length` while the previous message is incomplete. */
  private next = 0;
  private status: number | undefined;
  private fatal: string | undefined;

  /** @param send takes ownership of the chunk. */
  add(bytes: Uint8Array, send: (chunk: Uint8Array<ArrayBuffer>) => void): void {
    const needed = this.length + bytes.length;
    if (needed > this.buffer.length) this.buffer = Buffer.concat([this.buffer], 2 * needed);
    this.buffer.set(bytes, this.length);
    this.length = needed;
    this.scan();
    if (this.length >= CHUNK_BYTES) this.send(send);
  }

  /**
   * Sends the rest of the response.
   * @param isComplete whether the server answers the batch with ReadyForQuery.
   * @returns the transaction status; `undefined` if the batch was incomplete.
   * @throws SessionEnded
   */
  end(isComplete: boolean, send: (chunk: Uint8Array<ArrayBuffer>) => void): number | undefined {
    const { status } = this;
    this.status = undefined;
    if (this.fatal !== undefined) throw new SessionEnded(this.fatal);
    if (isComplete) {
      if (status === undefined || this.next !== this.length) throw new SessionEnded('incomplete response');
      const ready = readyForQuery(status);
      this.buffer.set(ready, this.length);
      this.length += ready.length;
      this.next = this.length;
    }
    if (this.length) this.send(send);
    return isComplete ? status : undefined;
  }

  /**
   * Removes each ReadyForQuery, but keeps its status. {@link end} then adds a single ReadyForQuery. Otherwise the client would
   * receive two after an error in the extended protocol: PGlite sends ReadyForQuery at once and again at Sync. PostgreSQL
   * sends it only at Sync.
   */
  private scan(): void {
    const { buffer } = this;
    while (this.next + HEADER_BYTES <= this.length) {
      const end = this.next + 1 + buffer.readUInt32BE(this.next + 1);
      const type = buffer[this.next];
      if (type === Backend.readyForQuery || type === Backend.error) {
        if (end > this.length) return;
        if (type === Backend.readyForQuery) {
          this.status = buffer[HEADER_BYTES + this.next];
          buffer.copyWithin(this.next, end, this.length);
          this.length -= end - this.next;
          continue;
        }
        // PGlite calls this function, and would catch an error that is thrown here. So `end` throws the error later.
        this.fatal ??= fatalText(buffer.subarray(this.next, end));
      }
      this.next = end;
    }
  }

  private send(send: (chunk: Uint8Array<ArrayBuffer>) => void): void {
    const sent = Math.min(this.next, this.length);
    if (!sent) return;
    send(new Uint8Array(this.buffer.subarray(0, sent)));
    this.buffer.copyWithin(0, sent, this.length);
    this.length -= sent;
    this.next -= sent;
  }
}
