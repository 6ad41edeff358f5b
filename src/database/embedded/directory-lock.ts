import { linkSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { identityOf, isRunning } from './process-identity';

const LOCK = /^lock\.([1-9][0-9]*)$/;
const ATTEMPTS = 100;

/**
 * The locks held by this process. A lock file with the pid of this process does not prove that this process holds the lock:
 * the file may be left over from an earlier process with the same pid.
 */
const held = new Map<string, number>();

/**
 * Locks `directory` for this process. PGlite does not lock its directory. If two processes open the same directory,
 * committed rows are lost. Lock libraries detect a dead owner by the age of its lock file. With such a library, a start
 * after a crash would have to wait, and a paused process would lose its lock.
 *
 * The lock is a numbered file, such as `lock.7`, that identifies its owner. The file with the highest number is the current
 * lock. To replace the lock of an owner that has ended, a process creates the file with the next number. `link` is atomic:
 * only one process succeeds, and other processes never see an incomplete file. Numbers are never reused. A process that has
 * read an outdated list of files creates a file whose number is not the highest. The process then deletes this file, and
 * tries again.
 * @returns a function that releases the lock.
 * @throws Error that names the owner of the lock, if the owner is still running.
 */
export function lockDirectory(directory: string): () => void {
  const path = realpathSync(directory);
  const mine = join(path, `owner.${process.pid}`);
  rmSync(mine, { force: true });
  writeFileSync(mine, identityOf(process.pid));
  try {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const current = newestIn(path);
      refuseIfOwned(path, current);
      const next = current + 1;
      if (!tryLink(mine, lockFile(path, next))) continue;
      if (newestIn(path) === next) return hold(path, next);
      rmSync(lockFile(path, next), { force: true });
    }
    throw new Error(`${directory} could not be locked, because other processes keep trying to lock it.`);
  } finally {
    rmSync(mine, { force: true });
  }
}

function hold(path: string, number: number): () => void {
  for (const older of locksIn(path)) {
    if (older < number) rmSync(lockFile(path, older), { force: true });
  }
  held.set(path, number);
  return () => {
    if (held.get(path) !== number) return;
    held.delete(path);
    // The file stays, so that its number is not reused. An empty file has no owner.
    writeFileSync(lockFile(path, number), '');
  };
}

function refuseIfOwned(path: string, number: number): void {
  const identity = number ? read(lockFile(path, number)) : '';
  const pid = Number.parseInt(identity, 10);
  if (Number.isNaN(pid) || !(pid === process.pid ? held.has(path) : isRunning(identity))) return;
  throw new Error(
    `${path} is in use by process ${pid}. Stop it, or set DATA_DIR to another directory. If ${path} is a copy ` +
      'of the directory that this process uses, the copy may be damaged: stop the process before copying.',
  );
}

function lockFile(path: string, number: number): string {
  return join(path, `lock.${number}`);
}

function locksIn(path: string): number[] {
  return readdirSync(path)
    .map((name) => Number(LOCK.exec(name)?.[1] ?? 0))
    .filter(Boolean);
}

/** The current lock number; 0 if the directory was never locked. */
function newestIn(path: string): number {
  return Math.max(0, ...locksIn(path));
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

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return ''; // deleted, since another process has created the next lock
  }
}
