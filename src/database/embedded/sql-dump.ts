import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { reasonOf } from '../failures';
import { openDirectory, renameDurably } from './cluster';
import { CLUSTER, makeDataDirectory } from './data-directory';
import { lockDirectory } from './directory-lock';
import { exitWithoutLock, isHeld } from './lock-proof';
import { pgDump } from './pg-dump';

const FIRST_LINE = '-- A database of Petstore Gateway, written by npm run dump\n';
/** The end of every complete output of pg_dump. A truncated dump does not have this end. */
const END = '\n--\n-- PostgreSQL database dump complete\n--';

/**
 * `--no-comments` omits the comment on the extension `pg_trgm`. On a server that already has the extension, only the
 * extension's owner may set the comment.
 */
const OPTIONS = ['--no-owner', '--no-privileges', '--no-comments', '--rows-per-insert=100'];

/**
 * A restore makes a checkpoint after this many bytes of SQL. Until the checkpoint, the write-ahead log takes twice as much
 * disk space as the SQL.
 */
const CHECKPOINT_BYTES = 16 * 1024 * 1024;

/**
 * Dumps the embedded database in `directory` without migrating it.
 * @returns SQL that PostgreSQL 15 and later can load into an empty database.
 * @throws Error with a one-line message if there is no database, another process has the database open, or the dump is too
 * large for a string.
 */
export async function dumpDirectory(directory: string): Promise<string> {
  if (!existsSync(join(directory, CLUSTER))) throw new Error(`DATA_DIR ${directory} has no database.`);
  const { engine, close } = await openDirectory(directory);
  try {
    const sql = await pgDump(engine, OPTIONS);
    // PostgreSQL 15 and 16 do not have this setting.
    return FIRST_LINE + sql.replace('SET transaction_timeout = 0;\n', '');
  } catch (error) {
    const reason = reasonOf(error).replace(/\s+/g, ' ');
    throw new Error(`${directory} cannot be dumped: ${reason}`, { cause: error });
  } finally {
    await close();
  }
}

/**
 * Reads a file with the output of {@link dumpDirectory}.
 * @throws Error with a one-line message if the file is not such a dump, or is incomplete.
 */
export function readDump(file: string): string {
  let dump: string;
  try {
    dump = readFileSync(file, 'utf8');
  } catch (error) {
    throw new Error(`${file} cannot be read: ${reasonOf(error)}`, { cause: error });
  }
  if (!dump.startsWith(FIRST_LINE)) {
    throw new Error(`${file} is not a dump of the gateway. To create a dump, run: npm run -s dump > FILE`);
  }
  if (!dump.trimEnd().endsWith(END)) throw new Error(`${file} is incomplete: its end is missing.`);
  return dump;
}

/**
 * Creates the embedded database in `directory` from a dump. If the restore fails, no part of the database remains.
 * @throws Error with a one-line message if there is a database already, a statement fails, or the disk is full.
 */
export async function restoreDirectory(directory: string, dump: string): Promise<void> {
  const cluster = join(directory, CLUSTER);
  if (existsSync(cluster)) {
    throw new Error(`DATA_DIR ${directory} already contains a database. Set DATA_DIR to a new directory.`);
  }
  const isNew = makeDataDirectory(directory);
  const lock = await lockDirectory(directory);
  const unfinished = `${cluster}.unfinished`;
  const remove = () => {
    if (!isHeld(lock.proof)) return;
    const isFailed = !existsSync(cluster);
    rmSync(isNew && isFailed ? directory : unfinished, { recursive: true, force: true });
  };
  // Also removes the files if a signal or a full disk (`guardedFiles`) ends the process.
  process.once('exit', remove);
  try {
    rmSync(unfinished, { recursive: true, force: true });
    await fillDirectory(unfinished, dump);
    if (!isHeld(lock.proof)) exitWithoutLock(lock.proof);
    renameDurably(join(unfinished, CLUSTER), cluster);
  } finally {
    process.off('exit', remove);
    remove();
    lock.release();
  }
}

async function fillDirectory(directory: string, dump: string): Promise<void> {
  const { engine, close } = await openDirectory(directory);
  try {
    let bytes = 0;
    for (const statement of statementsOf(dump)) {
      await engine.exec(statement);
      await setImmediate(); // PGlite blocks the event loop, which must run to receive signals
      bytes += statement.length;
      if (bytes < CHECKPOINT_BYTES) continue;
      await engine.exec('checkpoint');
      bytes = 0;
    }
    await engine.exec('analyze');
  } catch (error) {
    throw new Error(`the dump cannot be loaded: ${reasonOf(error)}`, { cause: error });
  } finally {
    await close();
  }
}

/**
 * Splits a dump into statements. Parsing the whole dump at once would take several times its size in memory. pg_dump begins
 * each statement on a new line. So a statement ends at a semicolon that is the last character of a line and not inside a
 * string.
 */
function* statementsOf(dump: string): Generator<string> {
  let statement = '';
  let isInString = false;
  for (const [line] of dump.matchAll(/[^\n]*\n/g)) {
    statement += line;
    if (line.split("'").length % 2 === 0) isInString = !isInString;
    if (isInString || !line.endsWith(';\n')) continue;
    yield statement;
    statement = '';
  }
  yield statement;
}
