import { createWriteStream, fstatSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { parseArgs } from 'node:util';
import { dumpDirectory } from '../database/embedded/sql-dump';
import { readConfig } from './config';
import { environment } from './environment';
import { runCommand } from './run-command';

runCommand('dump', async () => {
  parseArgs(); // throws if there are any arguments
  const { DATABASE_URL, DATA_DIR } = readConfig(environment());
  if (DATABASE_URL) throw new Error('DATABASE_URL is set. Use pg_dump for a PostgreSQL server (docs/backup.md).');
  await pipeline([await dumpDirectory(DATA_DIR)], standardOutput());
});

/**
 * Standard output. If it is a file, a file stream is used, because a file stream reports a full disk. `process.stdout` would
 * silently truncate the output (Node 20 to 22).
 */
function standardOutput(): NodeJS.WritableStream {
  const fd = 1;
  return fstatSync(fd).isFile() ? createWriteStream('', { fd }) : process.stdout;
}
