import { chmodSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { reasonOf } from '../failures';

/** The mode of directories that only their owner can use, as PostgreSQL requires for data directories. */
export const PRIVATE = 0o700;
/** The permissions of other users and groups. */
const OTHERS = 0o077;
export const CLUSTER = 'postgres';
/** The names of the gateway's entries in a data directory: the cluster and the locks. */
const OURS = /^(?:postgres(?:\.unfinished)?|lock\.(?:\d+|draft\.[0-9a-f]+)|owner\.\d+)$/;

/**
 * Creates the data directory, or restricts the permissions of an existing directory to its owner. If the directory also
 * contains other files, for example because it is a home directory, only the permissions of the cluster are restricted.
 * @returns whether the directory was created.
 * @throws Error with a one-line message if the directory cannot be created.
 */
export function makeDataDirectory(directory: string): boolean {
  let created: string | undefined;
  let entries: string[];
  try {
    created = mkdirSync(directory, { recursive: true, mode: PRIVATE });
    entries = readdirSync(directory);
  } catch (error) {
    throw unusable(directory, error);
  }
  if (entries.every((name) => OURS.test(name))) close(directory);
  if (entries.includes(CLUSTER)) close(join(directory, CLUSTER));
  return created !== undefined;
}

/** The error for a data directory that this process cannot read, write or create. */
export function unusable(directory: string, error: unknown): Error {
  const remedy =
    'Set DATA_DIR to a directory that the user of the gateway can write, or change its permissions or free space on its disk';
  return new Error(`DATA_DIR ${directory} cannot be used: ${reasonOf(error)}. ${remedy}.`, { cause: error });
}

/** Whether the operating system has rejected an operation on a file. */
export function isFileError(error: unknown): error is NodeJS.ErrnoException {
  return typeof error === 'object' && error !== null && 'syscall' in error;
}

/** Restricts the permissions to the owner. This fails if another user owns the directory, such as a mounted volume. */
function close(directory: string): void {
  try {
    if ((statSync(directory).mode & OTHERS) !== 0) chmodSync(directory, PRIVATE);
  } catch (error) {
    // On a read-only file system, the start fails.
    if (isFileError(error) && error.code === 'EROFS') throw unusable(directory, error);
    process.stderr.write(
      `petstore-gateway: other users of this machine may be able to read ${directory}: ${reasonOf(error)}\n`,
    );
  }
}
