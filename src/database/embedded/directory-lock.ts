import { randomBytes } from 'node:crypto';
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { isFileError, PRIVATE, unusable } from './data-directory';
import { isLocal } from './local-disk';
import { exitWithoutLock } from './lock-proof';
import { listenIn, probe, SOCKET } from './lock-socket';
import { pidLockOwner } from './pid-lock';

const LOCK = /^lock\.([1-9][0-9]*)$/;
const DRAFT = 'lock.draft.';
const BEAT = /^beat\./;
const OWNER_FILE = 'owner';
const ATTEMPTS = 100;
/** Deletes a lock or draft. Another process may be writing or deleting the same directory, so `rmdir` may have to be repeated. */
const REMOVE = { recursive: true, force: true, maxRetries: 10, retryDelay: 10 };

/** The interval at which the owner renews its lock, in milliseconds. */
const BEAT_MS = 2_000;
/**
 * If it is not visible whether the owner of a lock runs, the lock is taken over after this many intervals without a renewal.
 */
const MISSED_BEATS = 10;
const GONE = ['ENOENT', 'ENOTDIR', 'ESTALE'];
/** Errors of creating or renaming a draft that another process has deleted, or whose new name is taken. */
const LOST_RACE = ['ENOENT', 'ENOTEMPTY', 'EEXIST', 'ENOTDIR', 'EPERM'];

/** The owner of a lock, as written in the lock. */
interface Owner {
  readonly pid: number;
  readonly host: string;
  /** Whether the owner has the directory on a local disk; see {@link isLocal}. */
  readonly isLocal: boolean;
}

export interface DirectoryLock {
  /** A file that exists as long as this process holds the lock; see `isHeld`. */
  readonly proof: string;
  release(): void;
}

/** A complete lock that has no number yet. */
interface Draft {
  readonly directory: string;
  readonly beat: string;
  readonly stopListening: () => void;
}

/**
 * Locks `directory` for this process, in all containers and on all hosts that share the disk. PGlite does not lock its
 * directory. If two processes open the same directory, committed rows are lost.
 *
 * The lock is a numbered directory, such as `lock.7`. The directory with the highest number is the current lock. A process
 * prepares a lock under another name, and renames it to the next number. The rename fails if that number exists, since a
 * directory cannot replace a directory that has files. So only one process succeeds, and other processes never see an
 * incomplete lock. Numbers are never reused: the current lock stays when it is released. A process that has read an outdated
 * list of locks takes a number that is not the highest. The process then deletes its lock, and tries again.
 *
 * A lock contains a Unix socket, a file `beat.…` that the owner renews every two seconds, and a file that names the owner. The
 * socket accepts connections as long as the owner exists, even if the owner is stopped. It works in all containers of one
 * kernel. If the socket refuses a connection and the disk is local, the owner has ended. Otherwise the owner may run on another
 * host. In this case, the lock is taken over if the owner does not renew it in time. No clocks are compared.
 *
 * Taking over a lock deletes its file `beat.…`. The owner looks for this file before each write, because it may have been
 * paused. Without the file, the owner exits ({@link exitWithoutLock}).
 * @param beatMs set by tests only.
 * @throws Error with a one-line message, which names the owner of the lock if the owner still runs.
 */
export async function lockDirectory(directory: string, beatMs = BEAT_MS): Promise<DirectoryLock> {
  try {
    return await acquire(realpathSync(directory), beatMs);
  } catch (error) {
    throw isFileError(error) ? unusable(directory, error) : error;
  }
}

async function acquire(path: string, beatMs: number): Promise<DirectoryLock> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const locks = locksIn(path);
    const newest = Math.max(0, ...locks);
    rejectPidLock(path, newest);
    for (const number of locks) await requireNoOwner(path, number, beatMs);
    const next = newest + 1;
    const draft = await prepare(path);
    if (!draft) continue;
    const lock = pathOf(path, next);
    const isPlaced = tryRename(draft.directory, lock);
    if (isPlaced && Math.max(...locksIn(path)) === next) {
      removeOthers(path, next);
      return hold(lock, draft, beatMs);
    }
    draft.stopListening();
    rmSync(isPlaced ? lock : draft.directory, REMOVE);
  }
  throw new Error(`${path} could not be locked, because other processes keep trying to lock it.`);
}

/** @returns `undefined` if another process has deleted the draft. */
async function prepare(path: string): Promise<Draft | undefined> {
  const token = randomBytes(8).toString('hex');
  const directory = join(path, DRAFT + token);
  const beat = `beat.${token}`;
  const owner: Owner = { pid: process.pid, host: hostname(), isLocal: isLocal(path) };
  try {
    mkdirSync(directory, { mode: PRIVATE });
    writeFileSync(join(directory, OWNER_FILE), JSON.stringify(owner));
    writeFileSync(join(directory, beat), '0');
    return { directory, beat, stopListening: await listenIn(directory) };
  } catch (error) {
    if (codeOf(error) === 'ENOENT' && isDirectory(path)) return undefined;
    rmSync(directory, REMOVE);
    throw error;
  }
}

/** Deletes older locks, so that their owners notice. A newer lock means that this process was paused, and has lost its lock. */
function removeOthers(path: string, number: number): void {
  for (const older of locksIn(path)) if (older < number) rmSync(pathOf(path, older), REMOVE);
  for (const name of readdirSync(path)) if (name.startsWith(DRAFT)) rmSync(join(path, name), REMOVE);
}

function hold(lock: string, draft: Draft, beatMs: number): DirectoryLock {
  const proof = join(lock, draft.beat);
  let isReleased = false;
  const heartbeat = new Worker(join(__dirname, 'heartbeat.js'), {
    workerData: { file: proof, everyMs: beatMs },
    // Does not load the modules that `NODE_OPTIONS` preloads, such as instrumentation.
    env: {},
    execArgv: [],
  });
  heartbeat.unref();
  heartbeat.on('message', () => {
    if (!isReleased) exitWithoutLock(proof);
  });
  return {
    proof,
    release: () => {
      if (isReleased) return;
      isReleased = true;
      void heartbeat.terminate();
      tryRemove(proof);
      draft.stopListening();
      // Some programs cannot copy directories with sockets.
      tryRemove(join(lock, SOCKET));
    },
  };
}

/**
 * Checks for a lock of a version before 1.0. In those versions, only the newest lock counts.
 * @throws Error if its owner still runs.
 */
function rejectPidLock(path: string, newest: number): void {
  const pid = pidLockOwner(pathOf(path, newest));
  if (pid) throw inUse(path, `process ${pid}`);
}

/** @throws Error if the owner of the lock still runs. */
async function requireNoOwner(path: string, number: number, beatMs: number): Promise<void> {
  const lock = pathOf(path, number);
  const beat = beatOf(lock);
  if (!beat) return;
  const owner = ownerOf(lock);
  const name = nameOf(owner);
  const socket = await probe(lock);
  if (socket === 'open') throw inUse(path, name);
  if (socket === 'refused' && owner?.isLocal && isLocal(path)) return;
  process.stderr.write(
    `petstore-gateway: ${path} was last used by ${name}. This process cannot see whether ${name} still runs, so the start ` +
      `waits for up to ${(beatMs * MISSED_BEATS) / 1000} s.\n`,
  );
  if (await isRenewed(beat, beatMs)) throw inUse(path, name);
}

/**
 * Returns whether the owner renews its lock within `MISSED_BEATS` intervals. Also returns false if the lock is released. While
 * a file server hangs, the synchronous `read` blocks, so no further intervals pass.
 */
async function isRenewed(beat: string, beatMs: number): Promise<boolean> {
  const first = read(beat);
  if (first === undefined) return false;
  for (let missed = 0; missed < MISSED_BEATS; missed++) {
    await setTimeout(beatMs);
    const current = read(beat);
    if (current === undefined) return false; // released or taken over
    if (current !== first) return true;
  }
  return false;
}

function inUse(path: string, owner: string): Error {
  return new Error(`${path} is in use by ${owner}. Stop it, or set DATA_DIR to another directory.`);
}

function nameOf(owner: Owner | undefined): string {
  if (!owner) return 'another process';
  return owner.host === hostname() ? `process ${owner.pid}` : `process ${owner.pid} on ${owner.host}`;
}

function ownerOf(lock: string): Owner | undefined {
  try {
    return JSON.parse(readFileSync(join(lock, OWNER_FILE), 'utf8')) as Owner;
  } catch {
    return undefined; // deleted, or incomplete after a power loss
  }
}

/** The file that the owner renews; `undefined` if the lock was released or deleted, or is from an earlier version. */
function beatOf(lock: string): string | undefined {
  try {
    const name = readdirSync(lock).find((each) => BEAT.test(each));
    return name && join(lock, name);
  } catch (error) {
    if (GONE.includes(codeOf(error))) return undefined;
    throw error;
  }
}

function pathOf(path: string, number: number): string {
  return join(path, `lock.${number}`);
}

function locksIn(path: string): number[] {
  return readdirSync(path)
    .map((name) => Number(LOCK.exec(name)?.[1] ?? 0))
    .filter(Boolean);
}

/** @returns false if another process has taken the new name, or has deleted the draft. */
function tryRename(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if (LOST_RACE.includes(codeOf(error))) return false;
    throw error;
  }
}

/** If the file cannot be deleted, the next start takes the lock over, as after a crash. */
function tryRemove(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {
    // The file system has become read-only.
  }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** @returns `undefined` if the file does not exist. */
function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (GONE.includes(codeOf(error))) return undefined;
    throw error;
  }
}

function codeOf(error: unknown): string {
  return String((error as NodeJS.ErrnoException).code);
}
