import { createWriteStream, fstatSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { parseArgs } from 'node:util';
import { dumpDirectory } from '../database/embedded/sql-dump';
import { readConfig } from './config';
import { environment } from './environment';
import { runCommand } from './run-command';

runCommand('dump', async () => {
  parseArgs(); // accepts no arguments
  const { DATABASE_URL, DATA_DIR } = readConfig(environment());
  if (DATABASE_URL) throw new Error('DATABASE_URL is set. Use pg_dump for a PostgreSQL server (docs/backup.md).');
  await pipeline([await dumpDirectory(DATA_DIR)], standardOutput());
});

/** On a full disk `process.stdout` silently truncates a write (Node 20 to 22). A file stream reports the error. */
function standardOutput(): NodeJS.WritableStream {
  const fd = 1;
  return fstatSync(fd).isFile() ? createWriteStream('', { fd }) : process.stdout;
}
