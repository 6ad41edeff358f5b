import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { PGlite } from '@electric-sql/pglite';
import { startEngine } from './engine';
import { reasonOf } from './failures';

/** PGlite 0.4 is PostgreSQL 17; it cannot open a directory of another major version. */
export const MAJOR_VERSION = '17';

/**
 * Starts the embedded PostgreSQL on the files in `directory`, made if they are not there.
 * @throws Error in one line when they are of another PostgreSQL version or cannot be read as a database.
 */
export async function openCluster(directory: string): Promise<PGlite> {
  const version = versionOf(directory);
  if (version !== undefined && version !== MAJOR_VERSION) {
    throw new Error(
      `${directory} holds a PostgreSQL ${version} database; this version of the gateway reads PostgreSQL ${MAJOR_VERSION}. ` +
        'Move it away, or open it with the version that made it and dump it.',
    );
  }
  try {
    if (version === undefined) await createCluster(directory);
    return await startEngine(directory);
  } catch (error) {
    throw new Error(`${directory} cannot be opened as a database: ${reasonOf(error)}`, { cause: error });
  }
}

/** Makes it beside its place, and moves it there once it is whole: a first start that is killed spoils nothing. */
async function createCluster(directory: string): Promise<void> {
  const unfinished = `${directory}.unfinished`;
  rmSync(unfinished, { recursive: true, force: true });
  const engine = await startEngine(unfinished);
  await engine.close();
  renameSync(unfinished, directory);
  sync(dirname(directory));
}

/** Makes a directory's entries outlive a loss of power, where the system can. */
function sync(directory: string): void {
  try {
    const descriptor = openSync(directory, 'r');
    fsyncSync(descriptor);
    closeSync(descriptor);
  } catch {
    // Windows does not open directories.
  }
}

function versionOf(directory: string): string | undefined {
  try {
    return readFileSync(join(directory, 'PG_VERSION'), 'utf8').trim();
  } catch {
    return undefined; // a fresh directory
  }
}
