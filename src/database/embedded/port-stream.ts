import { Duplex } from 'node:stream';
import type { MessagePort } from 'node:worker_threads';
import { type ConnectionState, reportClosed, reportRead } from './connection-state';

/**
 * A connection to the embedded database for the `stream` option of node-postgres. It has the socket methods that
 * node-postgres calls. Writes have no backpressure, since node-postgres does not wait for `drain`. The amount of unprocessed
 * data is still bounded: by the number of connections, and by the statements that run on them.
 */
export class PortStream extends Duplex {
  /** Number of received bytes that have not been reported as read. */
  private received = 0;

  constructor(
    private readonly port: MessagePort,
    private readonly state: ConnectionState,
  ) {
    super();
    port.on('message', (bytes: Uint8Array) => {
      this.received += bytes.length;
      if (this.push(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length))) this._read();
    });
    port.on('close', () => {
      this.push(null);
      this.destroy();
    });
    // The port does not need to keep the process running, since the running worker does.
    port.unref();
  }

  connect(): this {
    process.nextTick(() => this.emit('connect'));
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  override _read(): void {
    if (!this.received) return;
    reportRead(this.state, this.received);
    this.received = 0;
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.post([chunk]);
    done();
  }

  override _writev(chunks: { chunk: Buffer }[], done: () => void): void {
    this.post(chunks.map(({ chunk }) => chunk));
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    reportClosed(this.state);
    this.port.close();
    done(error);
  }

  /**
   * Sends all chunks in one message, since the cost of a message does not depend on its size. The chunks are copied, since a
   * Node.js buffer may be part of a larger buffer, which must not be transferred.
   */
  private post(chunks: Buffer[]): void {
    const bytes = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const chunk of chunks) {
      bytes.set(chunk, at);
      at += chunk.length;
    }
    this.port.postMessage(bytes, [bytes.buffer]);
  }
}
