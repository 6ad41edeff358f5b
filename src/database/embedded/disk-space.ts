import { closeSync, existsSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { join } from 'node:path';

const MB = 1024 * 1024;
/**
 * PostgreSQL's write-ahead log consists of files of this size. PostgreSQL crashes if the disk has no space for the next
 * file.
 */
const SEGMENT = 16 * MB;
/** Writes are rejected if less space than this is free: one transaction may need two more segments. */
const MARGIN = 2 * SEGMENT;
/** Size of the reserve: space for the running transaction in case another process fills the disk. */
const RESERVE = 2 * SEGMENT;
/** Size of a new cluster with its first segments. */
const NEW_CLUSTER = 4 * SEGMENT;
const RESERVE_FILE = 'reserve';

/** The free space on the disk of a data directory. A file keeps part of the space in reserve. */
export class DiskSpace {
  private readonly file: string;
  private isReserved: boolean;

  constructor(private readonly directory: string) {
    this.file = join(directory, RESERVE_FILE);
    this.isReserved = existsSync(this.file);
  }

  /**
   * @param isNew whether a cluster has to be created.
   * @throws Error with a one-line message if there is not enough space to start.
   */
  require(isNew: boolean): void {
    const needed = MARGIN + (this.isReserved ? 0 : RESERVE) + (isNew ? NEW_CLUSTER : 0);
    const left = this.left();
    if (left >= needed) return;
    throw new Error(
      `The disk of DATA_DIR ${this.directory} is full: ${Math.floor(left / MB)} MB are left, and the embedded database needs ` +
        `${needed / MB} MB to start. Free disk space, or set DATA_DIR to a directory on another disk.`,
    );
  }

  /** Creates the reserve, if it does not exist and there is space for it. */
  take(): void {
    if (!this.isReserved) this.reserve();
  }

  /** Whether there is space for the next transaction's writes. The check takes 2 µs, and a write takes milliseconds. */
  isEnough(): boolean {
    const left = this.left();
    return left >= MARGIN && (this.isReserved || (left >= MARGIN + RESERVE && this.reserve()));
  }

  /** Deletes the reserve, which frees its space for the current write. @returns false if there was no reserve. */
  release(): boolean {
    if (!this.isReserved) return false;
    this.isReserved = false;
    rmSync(this.file, { force: true });
    return true;
  }

  /**
   * The free space in bytes. A file system that cannot report its free space reports a total size of 0. Its free space then
   * counts as unlimited.
   */
  private left(): number {
    const { blocks, bavail, bsize } = statfsSync(this.directory);
    return blocks ? bavail * bsize : Number.POSITIVE_INFINITY;
  }

  /**
   * Creates the reserve as a file full of text. A sparse file would take no space, and some file systems store zeros
   * sparsely.
   * @returns whether there was enough space.
   */
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
