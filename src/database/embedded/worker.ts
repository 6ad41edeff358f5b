/** The worker thread of the embedded database. PGlite blocks its thread while a statement runs. */
import { type MessagePort, workerData } from 'node:worker_threads';
import type { PGlite } from '@electric-sql/pglite';
import { openCluster, startInMemory } from './cluster';
import { exitWithoutLock, isHeld } from './lock-proof';
import { MARK, mayStart, type Slots } from './session-protocol';

export interface WorkerOptions {
  /** A data directory with the proof of its lock, or the image of a cluster to be opened in memory. */
  readonly files: { readonly directory: string; readonly proof: string } | { readonly image: string };
  /** Receives what node-postgres sends, and sends the responses. */
  readonly port: MessagePort;
  readonly slots: Slots;
}

const [SYNC, QUERY, TERMINATE, READY] = Buffer.from('SQXZ');
const READY_BYTES = 6;
/** ErrorResponse (57014, query_canceled) and ReadyForQuery. */
const DROPPED = Buffer.from('E\0\0\0\x2eSERROR\0VERROR\0C57014\0Mit was not started\0\0Z\0\0\0\x05I', 'latin1');
const FIRST_BYTES = 64 * 1024;

/**
 * Passes bytes to the only session of PGlite, and passes the responses back. Works around three faults of PGlite 0.5.8:
 * - Statements that are sent together fail. So each statement gets a separate call; a statement ends with Sync or Query.
 * - An SQL error does not restore the stack pointer. Every statement would fail after 1,701 errors (`stack depth limit
 *   exceeded`).
 * - After an error in the extended protocol, PGlite sends ReadyForQuery twice, at once and at Sync. node-postgres would then
 *   give each later result to the wrong statement.
 */
class Session {
  private out = Buffer.allocUnsafeSlow(FIRST_BYTES);
  private length = 0;
  private readonly stack: { value: unknown };

  constructor(
    private readonly engine: PGlite,
    private readonly port: MessagePort,
    private readonly slots: Slots,
  ) {
    this.stack = (engine.Module as unknown as { ___stack_pointer: { value: unknown } }).___stack_pointer;
  }

  /** Runs the statements that arrived together. @throws Error if PGlite's session has ended. */
  receive(bytes: Buffer): void {
    let slot: number | undefined;
    let isShort = false;
    let end: number;
    for (let start = 0, at = 0; at < bytes.length; at = end) {
      const type = bytes[at];
      // The startup message has no type byte, but begins with the first byte of its length, which is 0.
      end = type ? at + 1 + bytes.readUInt32BE(at + 1) : bytes.length;
      if (type === TERMINATE) return void this.engine.close().then(() => process.exit(0));
      if (type === MARK) {
        slot = bytes[at + 5];
        isShort = bytes[at + 6] === 1;
        start = end;
      } else if (type === SYNC || type === QUERY || !type) {
        // Earlier responses must not wait for a slow statement.
        if (!isShort) this.flush();
        if (slot === undefined || mayStart(this.slots, slot)) this.run(bytes.subarray(start, end));
        else this.add(DROPPED);
        // The gateway's own DEALLOCATE ALL has no mark, and must not be dropped with the statement before it.
        slot = undefined;
        isShort = false;
        start = end;
      }
    }
    this.flush();
  }

  private run(statement: Buffer): void {
    const start = this.length;
    const { value } = this.stack;
    // The statement runs synchronously. The promise exists only for `syncToFs`, which is off.
    void this.engine.execProtocolRawStream(statement, { syncToFs: false, onRawData: this.add });
    this.stack.value = value;
    const end = this.length;
    if (!this.isReadyAt(end - READY_BYTES, start)) {
      const error = /\0M([^\0]+)/.exec(this.out.toString('utf8', start, end));
      throw new Error(error?.[1] ?? 'its session has ended');
    }
    // No message that may precede ReadyForQuery ends with the same bytes.
    if (this.isReadyAt(end - 2 * READY_BYTES, start)) {
      this.out.copyWithin(end - 2 * READY_BYTES, end - READY_BYTES, end);
      this.length -= READY_BYTES;
    }
  }

  private isReadyAt(at: number, start: number): boolean {
    return at >= start && this.out[at] === READY && this.out.readUInt32BE(at + 1) === READY_BYTES - 1;
  }

  private readonly add = (bytes: Uint8Array): void => {
    const needed = this.length + bytes.length;
    if (needed > this.out.length) this.out = Buffer.concat([this.out.subarray(0, this.length)], 2 * needed);
    this.out.set(bytes, this.length);
    this.length = needed;
  };

  private flush(): void {
    if (!this.length) return;
    const bytes = new Uint8Array(this.out.subarray(0, this.length));
    this.port.postMessage(bytes, [bytes.buffer]);
    this.length = 0;
    if (this.out.length > 16 * FIRST_BYTES) this.out = Buffer.allocUnsafeSlow(FIRST_BYTES);
  }
}

async function serve({ files, port, slots }: WorkerOptions): Promise<void> {
  const engine = await ('directory' in files ? openCluster(files.directory, files.proof) : startInMemory(files.image));
  const session = new Session(engine, port, slots);
  port.on('message', (bytes: Uint8Array) => {
    try {
      session.receive(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
    } catch (error) {
      fail(error);
    }
  });
}

/** Ends this thread by an error, which `DatabaseThread` reports. */
function fail(error: unknown): never {
  // Without its lock, the directory may belong to another process, or not exist.
  if ('proof' in options.files && !isHeld(options.files.proof)) exitWithoutLock(options.files.proof);
  throw error;
}

const options = workerData as WorkerOptions;
serve(options).catch(fail);
