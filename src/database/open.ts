import type { Database } from './database';
import { EmbeddedDatabase } from './embedded';
import { PostgresDatabase } from './postgres';

/**
 * Opens the database with all migrations applied: PostgreSQL where `url` is given, else the embedded one in `directory`.
 * @throws Error in one line when it cannot be opened or migrated.
 */
export function openDatabase(options: { url?: string; directory: string }): Promise<Database> {
  return options.url ? PostgresDatabase.open(options.url) : EmbeddedDatabase.open(options.directory);
}
