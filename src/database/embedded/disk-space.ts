import { closeSync, existsSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { join } from 'node:path';

const MB = 1024 * 1024;
/** PostgreSQL makes its write-ahead log in files of this size, and ends itself if there is no room for the next. */
const SEGMENT = 16 * MB;
/** What is left to others before writes are refused: one transaction may need two more segments. */
const MARGIN = 2 * SEGMENT;
/** What is kept for the transaction that runs while others fill the disk. */
const RESERVE = 2 * SEGMENT;
/** A new cluster with its first segments. */
const NEW_CLUSTER = 4 * SEGMENT;
const RESERVE_FILE = 'reserve';

/** The room on the disk of a data directory, part of which is kept in reserve, as a file. */
export class DiskSpace {
  private readonly file: string;
  private isReserved: boolean;

  constructor(private readonly directory: string) {
    this.file = join(directory, RESERVE_FILE);
    this.isReserved = existsSync(this.file);
  }

  /**
   * @param isNew whether a cluster has to be created.
   * @throws Error with a one-line message if there is no room to start.
   */
  require(isNew: boolean): void {
    const needed = MARGIN + (this.isReserved ? 0 : RESERVE) + (isNew ? NEW_CLUSTER : 0);
    const left = this.left();
    if (left >= needed) return;
    throw new Error(
      `The disk of DATA_DIR ${this.directory} is full: ${Math.floor(left / MB)} MB are left, and the embedded database needs ` +
        `${needed / MB} MB to start. Make room, or set DATA_DIR to a directory on another disk.`,
    );
  }

  /** Takes the reserve, if there is room for it. */
  take(): void {
    if (!this.isReserved) this.reserve();
  }

  /** Whether the next transaction may write. A system call of 2 µs, beside the milliseconds that a write takes. */
  isEnough(): boolean {
    const left = this.left();
    return left >= MARGIN && (this.isReserved || (left >= MARGIN + RESERVE && this.reserve()));
  }

  /** Frees the reserve for the current write. @returns false if there is none. */
  release(): boolean {
    if (!this.isReserved) return false;
    this.isReserved = false;
    rmSync(this.file, { force: true });
    return true;
  }

  /** In bytes; file systems that do not know it report a size of 0. */
  private left(): number {
    const { blocks, bavail, bsize } = statfsSync(this.directory);
    return blocks ? bavail * bsize : Number.POSITIVE_INFINITY;
  }

  /** Written, since a hole in a file takes no room, and not with zeros, which some file systems store as a hole. */
  private reserve(): boolean {
    const block = Buffer.alloc(MB, 'petstore-gateway ');
    try {
      const file = openSync(this.file, 'w', 0o600);
      try {
        for (let size = 0; size < RESERVE; size += writeSync(file, block));
      } finally {
        closeSync(file);
      }
    } catch {
      rmSync(this.file, { force: true });
      return false;
    }
    this.isReserved = true;
    return true;
  }
}
