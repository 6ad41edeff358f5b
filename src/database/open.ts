import { PostgresDatabase, type PostgresOptions } from './connections/postgres';
import type { Database } from './database';
import { EmbeddedDatabase } from './embedded/embedded';

/**
 * Opens the database and applies all migrations: PostgreSQL if `url` is given, otherwise the embedded one in
 * `directory`.
 * @throws Error with a one-line message if it cannot be opened or migrated.
 */
export function openDatabase({
  url,
  directory,
  ...bounds
}: Partial<PostgresOptions> & { directory: string }): Promise<Database> {
  return url ? PostgresDatabase.open({ url, ...bounds }) : EmbeddedDatabase.open(directory, bounds);
}
