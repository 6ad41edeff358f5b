import { fstatSync, write, writeSync } from 'node:fs';
import { complain, openNonBlocking } from './standard-streams';

/** Maximum number of buffered bytes. */
const MAX_WAITING = 4 * 1024 * 1024;
/** Time after which buffered lines are written, and a failed write is retried, in milliseconds. */
const FLUSH_MS = 1000;
/** Maximum time between two attempts to write to a full pipe, in milliseconds. */
const MAX_RETRY_MS = 100;
/** How long the exit waits for the reader of a full pipe, in milliseconds. */
const EXIT_MS = 1000;
const EXIT_RETRY_MS = 10;

const NEWLINE = 0x0a;
const NOTHING = Buffer.alloc(0);

interface Sizes {
  /** Number of buffered bytes that starts a write. */
  readonly minLength: number;
  /** Maximum number of bytes per write. A longer line is one write. */
  readonly maxWrite: number;
}

/**
 * Standard output, as a destination for pino. It never blocks the process, and never fails. It drops and counts lines that
 * cannot be written, and reports the fault once on standard error.
 */
export class LogOutput {
  /** Number of dropped lines. */
  lost = 0;
  private lines: Buffer[] = [];
  /** The unwritten bytes of the current write. */
  private chunk: Buffer = NOTHING;
  /** Number of bytes in `lines` and `chunk`. */
  private waiting = 0;
  /** Whether the last line has been written only in part. */
  private isInLine = false;
  /** Whether a write is in progress in the thread pool. */
  private isWriting = false;
  /** Whether the last write failed, so that the timer starts the next write. */
  private isPaused = false;
  private isLosing = false;
  private retryMs = 1;
  private timer: NodeJS.Timeout | undefined;
  private readonly fd = openNonBlocking(1);
  /** Files are written in the thread pool, since a slow disk would block the event loop. */
  private readonly isFile = fstatSync(this.fd).isFile();

  constructor(private readonly sizes: Sizes) {
    process.once('exit', () => this.end());
  }

  /** Takes a line, and writes it at the latest after a second. */
  write(text: string): void {
    const line = Buffer.from(text);
    if (this.waiting + line.length > MAX_WAITING) {
      this.report(1, 'it is not read fast enough');
      return;
    }
    this.lines.push(line);
    this.waiting += line.length;
    if (this.waiting >= this.sizes.minLength && !this.isPaused) this.flush();
    else this.timer ??= this.flushIn(FLUSH_MS);
  }

  /**
   * Writes all buffered lines at once, unless standard output does not take them.
   * @returns whether all lines are written, or being written.
   */
  flushSync(): boolean {
    while (!this.isWriting && this.nextChunk()) if (!this.writeSync()) break;
    return (this.waiting === 0 || this.isWriting) && !this.isLosing;
  }

  private flush(): void {
    if (!this.isFile) return void this.flushSync();
    if (this.isWriting || !this.nextChunk()) return;
    this.isWriting = true;
    write(this.fd, this.chunk, (error, count) => {
      this.isWriting = false;
      if (this.settle(error, count)) this.flush();
    });
  }

  private flushIn(ms: number): NodeJS.Timeout {
    clearTimeout(this.timer);
    const flush = () => {
      this.timer = undefined;
      this.flush();
    };
    return setTimeout(flush, ms).unref();
  }

  /** Waits for a slow reader, but not longer than `EXIT_MS`. */
  private end(): void {
    // Node.js completes the write in progress before the process ends.
    if (this.isWriting) {
      this.waiting -= this.chunk.length;
      this.chunk = NOTHING;
    }
    this.isWriting = false;
    const last = performance.now() + EXIT_MS;
    const sleeper = new Int32Array(new SharedArrayBuffer(4));
    for (this.flushSync(); this.waiting > 0 && performance.now() < last; this.flushSync())
      Atomics.wait(sleeper, 0, 0, EXIT_RETRY_MS);
  }

  /** Fills the chunk with whole lines if it is empty. @returns whether the chunk has bytes. */
  private nextChunk(): boolean {
    if (this.chunk.length) return true;
    let size = 0;
    const next = this.lines.findIndex((line) => {
      size += line.length;
      return size > this.sizes.maxWrite;
    });
    const count = next === -1 ? this.lines.length : Math.max(next, 1);
    this.chunk = Buffer.concat(this.lines.splice(0, count));
    return this.chunk.length > 0;
  }

  /** Writes the chunk. @returns whether the next write can follow at once. */
  private writeSync(): boolean {
    try {
      return this.settle(null, writeSync(this.fd, this.chunk));
    } catch (error) {
      return this.settle(error as NodeJS.ErrnoException, 0);
    }
  }

  /** Processes the result of a write. @returns whether the next write can follow at once. */
  private settle(error: NodeJS.ErrnoException | null, count: number): boolean {
    this.isPaused = error !== null;
    if (!error) {
      this.isInLine = this.chunk[count - 1] !== NEWLINE;
      this.chunk = this.chunk.subarray(count);
      this.waiting -= count;
      this.retryMs = 1;
      if (this.waiting === 0) this.reportRecovery();
      return true;
    }
    if (error.code === 'EAGAIN') {
      this.timer = this.flushIn(this.retryMs);
      this.retryMs = Math.min(this.retryMs * 2, MAX_RETRY_MS);
    } else {
      this.dropWaiting(error.message);
      this.timer = this.flushIn(FLUSH_MS);
    }
    return false;
  }

  /**
   * Drops all lines, except the rest of a line that has been written in part. Otherwise the next log line would not begin on a
   * new line.
   */
  private dropWaiting(reason: string): void {
    const rest = this.isInLine ? this.chunk.subarray(0, this.chunk.indexOf(NEWLINE) + 1) : NOTHING;
    const dropped = this.chunk.subarray(rest.length).filter((byte) => byte === NEWLINE).length + this.lines.length;
    this.lines = [];
    this.chunk = rest;
    this.waiting = rest.length;
    this.report(dropped, reason);
  }

  private report(dropped: number, reason: string): void {
    this.lost += dropped;
    if (this.isLosing) return;
    this.isLosing = true;
    complain(
      `the log cannot be written: ${reason}. The gateway continues without the log, and counts lost lines in petstore_log_lines_lost_total.`,
    );
  }

  private reportRecovery(): void {
    if (!this.isLosing) return;
    this.isLosing = false;
    complain(`the log is written again. ${this.lost} lines have been lost since the start.`);
  }
}
