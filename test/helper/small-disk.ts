import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const MB = 1024 * 1024;

/** A disk of its own, in memory. Only root may make one. */
export class SmallDisk {
  private constructor(readonly path: string) {}

  /** @returns `undefined` where file systems may not be mounted. */
  static make(megabytes: number): SmallDisk | undefined {
    const path = mkdtempSync(join(tmpdir(), 'petstore-disk-'));
    const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', path]);
    if (status === 0) return new SmallDisk(path);
    rmSync(path, { recursive: true });
    return undefined;
  }

  get left(): number {
    const { bavail, bsize } = statfsSync(this.path);
    return (bavail * bsize) / MB;
  }

  /** Fills it with other things until this many megabytes are left. */
  fill(left: number): void {
    this.empty();
    try {
      writeFileSync(join(this.path, 'filler'), Buffer.alloc(Math.floor((this.left - left) * MB)));
    } catch (error) {
      // Whoever else writes to it has taken some of that meanwhile: it is full.
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    }
  }

  /** Makes it larger. */
  grow(megabytes: number): void {
    spawnSync('mount', ['-o', `remount,size=${megabytes}m`, this.path]);
  }

  /** Removes what {@link fill} has put there. */
  empty(): void {
    rmSync(join(this.path, 'filler'), { force: true });
  }

  remove(): void {
    spawnSync('umount', ['-l', this.path]);
    rmSync(this.path, { recursive: true, force: true });
  }
}

const probe = SmallDisk.make(1);
probe?.remove();
/** Tests that need a disk of their own. */
export const onSmallDisk = probe ? describe : describe.skip;
