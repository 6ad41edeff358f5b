import type { Database } from './database';
import type { PostgresOptions } from './postgres';

/**
 * Opens the database with all migrations applied: PostgreSQL where `url` is given, else the embedded one in `directory`.
 * Only what that one needs is loaded.
 * @throws Error in one line when it cannot be opened or migrated.
 */
export async function openDatabase({
  url,
  directory,
  ...bounds
}: Partial<PostgresOptions> & { directory: string }): Promise<Database> {
  return url
    ? (await import('./postgres.js')).PostgresDatabase.open({ url, ...bounds })
    : (await import('./embedded.js')).EmbeddedDatabase.open(directory);
}
