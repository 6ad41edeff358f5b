import { parseArgs } from 'node:util';
import { dumpDirectory } from '../database/embedded/sql-dump';
import { readConfig } from './config';
import { environment } from './environment';
import { print, runCommand } from './run-command';

runCommand('dump', async () => {
  parseArgs(); // throws if there are any arguments
  const { DATABASE_URL, DATA_DIR } = readConfig(environment());
  if (DATABASE_URL) throw new Error('DATABASE_URL is set. Use pg_dump for a PostgreSQL server (docs/backup.md).');
  print(await dumpDirectory(DATA_DIR));
});
