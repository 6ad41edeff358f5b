import { Duplex } from 'node:stream';
import type { MessagePort } from 'node:worker_threads';
import { type ConnectionState, reportClosed, reportRead } from './connection-state';

/**
 * A connection to the embedded database for the `stream` option of node-postgres, with the methods of a socket that it calls.
 * node-postgres does not wait for `drain`. The numbers of connections and statements bound the data that is not processed yet.
 */
export class PortStream extends Duplex {
  /** Received bytes that the reader has not taken. */
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
    // The worker keeps the process running, while it is open.
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

  /** One message for all: its cost does not depend on its size. A buffer of Node's may be part of a larger one, so it is copied. */
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
