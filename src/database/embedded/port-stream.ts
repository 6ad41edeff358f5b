import { Duplex } from 'node:stream';
import type { MessagePort } from 'node:worker_threads';

/**
 * The connection to the embedded database for the `stream` option of node-postgres. It has the socket methods that
 * node-postgres calls. There is no backpressure: only the number of statements in flight bounds unread results.
 */
export class PortStream extends Duplex {
  private chunks: Buffer[] = [];

  constructor(private readonly port: MessagePort) {
    super({ read: () => undefined });
    port.on('message', (bytes: Uint8Array) => this.push(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)));
    port.on('close', () => this.push(null));
    // The port does not need to keep the process running, since the running worker does.
    port.unref();
  }

  connect(): void {
    process.nextTick(() => this.emit('connect'));
  }

  setNoDelay(): void {}

  /**
   * Everything that is written in one iteration of the event loop is sent at its end in one message. The cost of a message hardly
   * depends on its size.
   */
  override write(chunk: Buffer, written?: unknown): boolean {
    if (this.chunks.push(chunk) === 1) setImmediate(() => this.flush());
    if (typeof written === 'function') setImmediate(() => written());
    return true;
  }

  /** Sends at once what was written. */
  flush(): void {
    if (!this.chunks.length) return;
    // A copy, since a Node.js buffer may be part of a larger buffer, which must not be transferred.
    const bytes = new Uint8Array(Buffer.concat(this.chunks));
    this.chunks = [];
    this.port.postMessage(bytes, [bytes.buffer]);
  }
}
