import { chmodSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { reasonOf } from '../failures';

/** The mode of directories that only their owner can use, as PostgreSQL requires for data directories. */
export const PRIVATE = 0o700;
export const CLUSTER = 'postgres';
/** All that is kept in it: the cluster, the reserve on its disk, and who has it open. */
const OURS = /^(?:postgres(?:\.unfinished)?|reserve|(?:lock|owner)\.\d+)$/;

/**
 * Makes the data directory, or closes an existing one to all but its owner. One that holds other things, too, such as a home
 * directory, is left as it is; the cluster in it is closed.
 * @returns whether it is new.
 * @throws Error with a one-line message if it cannot be made.
 */
export function makeDataDirectory(directory: string): boolean {
  let created: string | undefined;
  try {
    created = mkdirSync(directory, { recursive: true, mode: PRIVATE });
  } catch (error) {
    throw new Error(`DATA_DIR ${directory} cannot be created: ${reasonOf(error)}`, { cause: error });
  }
  const entries = readdirSync(directory);
  if (entries.every((name) => OURS.test(name))) close(directory);
  if (entries.includes(CLUSTER)) close(join(directory, CLUSTER));
  return created !== undefined;
}

/** It may be another user's, such as a volume's. */
function close(directory: string): void {
  try {
    chmodSync(directory, PRIVATE);
  } catch (error) {
    process.emitWarning(`${directory} may be open to other users of this machine: ${reasonOf(error)}`);
  }
}
