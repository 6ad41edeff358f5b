import type { Database } from './database';
import { EmbeddedDatabase } from './embedded';
import { PostgresDatabase, type PostgresOptions } from './postgres';

/**
 * Opens the database with all migrations applied: PostgreSQL where `url` is given, else the embedded one in `directory`.
 * @throws Error in one line when it cannot be opened or migrated.
 */
export function openDatabase({
  url,
  directory,
  ...bounds
}: Partial<PostgresOptions> & { directory: string }): Promise<Database> {
  return url ? PostgresDatabase.open({ url, ...bounds }) : EmbeddedDatabase.open(directory);
}
