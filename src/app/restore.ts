import { parseArgs } from 'node:util';
import { readDump, restoreDirectory } from '../database/embedded/sql-dump';
import { readConfig } from './config';
import { environment } from './environment';
import { print, runCommand } from './run-command';

runCommand('restore', async () => {
  const [file, ...others] = parseArgs({ allowPositionals: true }).positionals;
  if (!file || others.length) throw new Error('name one file: npm run restore -- FILE');
  const { DATABASE_URL, DATA_DIR } = readConfig(environment());
  if (DATABASE_URL)
    throw new Error('DATABASE_URL is set. Use psql or pg_restore for a PostgreSQL server (docs/backup.md).');
  // `process.exit` runs the exit listener that removes the unfinished database. Without this handler, a signal would end the
  // process without running the listener.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1));
  await restoreDirectory(DATA_DIR, readDump(file));
  print(`Restored ${file} into ${DATA_DIR}.\n`);
});
