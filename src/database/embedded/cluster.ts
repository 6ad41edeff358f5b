import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { PGlite, PGliteOptions } from '@electric-sql/pglite';
import { reasonOf } from '../failures';
import { FORMATS } from '../session-settings';
import { explainVirtualMemory, requireVirtualMemory } from '../virtual-memory';
import { CLUSTER, isFileError, makeDataDirectory, PRIVATE, unusable } from './data-directory';
import { lockDirectory } from './directory-lock';
import { fileFailureOf, guardedFiles } from './guarded-files';
import { exitWithoutLock, isHeld } from './lock-proof';

/** PGlite 0.5 contains PostgreSQL 18. It cannot open a directory of a different major version. */
export const MAJOR_VERSION = '18';

/**
 * Locks a data directory, and opens its cluster in this thread. Commands such as `npm run dump` use this function.
 * @returns the engine, and a function that closes the engine and unlocks the directory.
 * @throws Error like {@link lockDirectory} and {@link openCluster}.
 */
export async function openDirectory(directory: string) {
  makeDataDirectory(directory);
  const lock = await lockDirectory(directory);
  try {
    const engine = await openCluster(directory, lock.proof);
    return { engine, close: () => engine.close().then(lock.release) };
  } catch (error) {
    lock.release();
    throw error;
  }
}

/**
 * Starts the embedded PostgreSQL on the cluster of a locked data directory. Creates the cluster if it does not exist.
 * @param proof see `DirectoryLock`.
 * @throws Error with a one-line message if the cluster is from another PostgreSQL version, or cannot be opened.
 */
export async function openCluster(directory: string, proof: string): Promise<PGlite> {
  const cluster = join(directory, CLUSTER);
  const version = versionOf(directory);
  if (version !== undefined && version !== MAJOR_VERSION) {
    throw new Error(
      `${cluster} contains a PostgreSQL ${version} database; this version of the gateway reads PostgreSQL ${MAJOR_VERSION}. ` +
        'To move the data, run `npm run dump` with the version of the gateway that wrote it. Then run `npm run restore` with this version and a new DATA_DIR.',
    );
  }
  try {
    requireVirtualMemory();
    if (version === undefined) await createCluster(cluster, proof);
    return await startEngine({ fs: await guardedFiles(cluster, proof) });
  } catch (error) {
    const fileFailure = fileFailureOf(error) ?? (isFileError(error) ? error : undefined);
    if (fileFailure) throw unusable(directory, fileFailure);
    const reason =
      explainVirtualMemory(reasonOf(error)) ??
      `${reasonOf(error)}. Restore a backup, or set DATA_DIR to another directory.`;
    throw new Error(`${cluster} cannot be opened as a database: ${reason}`, { cause: error });
  }
}

/**
 * Creates the cluster from PGlite's archive of a new cluster, since initdb takes several seconds longer. Creates it in a sibling
 * directory, and renames the directory at the end. If the process is killed before that, the next start does not open the
 * incomplete cluster.
 */
async function createCluster(directory: string, proof: string): Promise<void> {
  const unfinished = `${directory}.unfinished`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { mode: PRIVATE });
  const { dataDir } = await import('@electric-sql/pglite-prepopulatedfs');
  const engine = await startEngine({ dataDir: unfinished, loadDataDir: await dataDir() });
  await engine.close();
  if (!isHeld(proof)) exitWithoutLock(proof);
  renameDurably(unfinished, directory);
}

/** Renames a directory so that its new name survives a power loss, if the operating system supports this. */
export function renameDurably(from: string, to: string): void {
  renameSync(from, to);
  try {
    const descriptor = openSync(dirname(to), 'r');
    fsyncSync(descriptor);
    closeSync(descriptor);
  } catch {
    // Windows cannot open directories.
  }
}

/** @throws Error with a one-line message if the cluster cannot be read. */
function versionOf(directory: string): string | undefined {
  try {
    return readFileSync(join(directory, CLUSTER, 'PG_VERSION'), 'utf8').trim();
  } catch (error) {
    if (isFileError(error) && error.code === 'ENOENT') return undefined; // a new directory
    throw unusable(directory, error);
  }
}

/**
 * `max_wal_size` is so high that it is never reached. When the log since the last checkpoint has half this size, PostgreSQL
 * requests a checkpoint from its checkpointer process. PGlite has no such process, and would hang. (With the default of
 * 1 GB, PGlite 0.4.3 hung forever after 540 MB.) {@link Upkeep} makes the checkpoints instead.
 *
 * `wal_recycle=off` deletes old log files after a checkpoint. Recycled files would keep the log at its largest size.
 */
const LOG = ['-c', 'max_wal_size=1TB', '-c', 'wal_recycle=off'];

/** Starts the embedded PostgreSQL in memory. @param image a file with the image of a cluster, written by PGlite. */
export function startInMemory(image: string): Promise<PGlite> {
  return startEngine({ loadDataDir: new Blob([new Uint8Array(readFileSync(image))]) });
}

/** Starts PGlite with the extensions that the migrations need. Without `dataDir` and `fs` it runs in memory. */
export async function startEngine(options: Pick<PGliteOptions, 'dataDir' | 'fs' | 'loadDataDir'>): Promise<PGlite> {
  // Loads PGlite only if the embedded database is used. `require` would load a build that does not find its files if `#`, `?` or
  // `%` is in their path.
  const { PGlite } = (await import('@electric-sql/pglite')) as object as typeof import('@electric-sql/pglite');
  const { pg_trgm } = await import('@electric-sql/pglite/contrib/pg_trgm');
  const startParams = [...PGlite.defaultStartParams, ...LOG];
  const engine = await PGlite.create({ ...options, startParams, extensions: { pg_trgm } });
  // Table pages are in memory, so random access is cheap. With the default `random_page_cost` of 4, the planner would scan
  // 10,000 pets to find the pets with a rare status.
  await engine.exec(`${FORMATS}; set random_page_cost to 1.1`);
  return engine;
}
