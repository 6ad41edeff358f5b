import { linkSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isRunning, processMark } from './process-mark';

const LOCK = /^lock\.([1-9][0-9]*)$/;
const ATTEMPTS = 100;

/** The locks that this process holds: a mark with its own pid may be an earlier process's. */
const held = new Map<string, number>();

/**
 * Takes `directory` for this process: PGlite does not lock it, and two processes that have it open lose each other's
 * committed rows.
 *
 * The lock is a numbered file, `lock.7`, that says who its owner is; of several, the highest number counts. Who finds
 * that owner gone makes the next number, which appears whole and for one contender only (link is atomic). Numbers never
 * start anew, so a contender that looked long ago makes a number that has been passed by, and sees that.
 * @returns what gives it back.
 * @throws Error naming the owner when it is a live process.
 */
export function lockDirectory(directory: string): () => void {
  const path = realpathSync(directory);
  const mine = join(path, `owner.${process.pid}`);
  rmSync(mine, { force: true });
  writeFileSync(mine, processMark(process.pid));
  try {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const current = newestIn(path);
      refuseIfOwned(path, current);
      const next = current + 1;
      if (!tryLink(mine, lockFile(path, next))) continue;
      if (newestIn(path) === next) return hold(path, next);
      rmSync(lockFile(path, next), { force: true });
    }
    throw new Error(`${directory} could not be locked: other processes keep trying to take it.`);
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
    // The number stays, without an owner.
    writeFileSync(lockFile(path, number), '');
  };
}

function refuseIfOwned(path: string, number: number): void {
  const mark = number ? read(lockFile(path, number)) : '';
  const pid = Number.parseInt(mark, 10);
  if (Number.isNaN(pid) || !(pid === process.pid ? held.has(path) : isRunning(mark))) return;
  throw new Error(`${path} is in use by process ${pid}. Stop it, or set DATA_DIR to another directory.`);
}

function lockFile(path: string, number: number): string {
  return join(path, `lock.${number}`);
}

function locksIn(path: string): number[] {
  return readdirSync(path)
    .map((name) => Number(LOCK.exec(name)?.[1] ?? 0))
    .filter(Boolean);
}

/** The number that counts; 0 if the directory was never locked. */
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
    return ''; // passed by meanwhile
  }
}
