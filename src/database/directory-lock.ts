import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Takes `directory` for this process: PGlite does not lock it, and two processes that have it open lose each other's
 * committed rows. The lock is a file with the owner's pid, which appears whole or not at all (link is atomic); one whose
 * owner is gone is taken over.
 * @returns what gives it back.
 * @throws Error naming the owner when it is another live process.
 */
export function lockDirectory(directory: string): () => void {
  const lock = join(directory, 'lock');
  const mine = join(directory, `lock.${process.pid}`);
  writeFileSync(mine, `${process.pid}\n`);
  try {
    for (let attempt = 0; attempt < 5; attempt++) {
      if (tryLink(mine, lock)) return () => release(lock);
      const owner = ownerOf(lock);
      if (owner !== undefined && owner !== process.pid && isAlive(owner)) {
        throw new Error(
          `${directory} is in use by process ${owner}. Stop it, or set DATA_DIR to another directory.`,
        );
      }
      if (owner !== undefined) evict(lock, owner);
    }
    throw new Error(`${directory} could not be locked: other processes keep trying to take it.`);
  } finally {
    rmSync(mine, { force: true });
  }
}

/** Moves a dead owner's lock away. Had somebody else taken it over meanwhile, it is theirs: it goes back. */
function evict(lock: string, owner: number): void {
  const aside = `${lock}.stale.${process.pid}`;
  try {
    renameSync(lock, aside);
  } catch {
    return; // somebody else was quicker
  }
  if (ownerOf(aside) !== owner) tryLink(aside, lock);
  rmSync(aside, { force: true });
}

function release(lock: string): void {
  if (ownerOf(lock) === process.pid) rmSync(lock, { force: true });
}

function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function ownerOf(lock: string): number | undefined {
  try {
    return Number.parseInt(readFileSync(lock, 'utf8'), 10) || 0;
  } catch {
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  if (pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
