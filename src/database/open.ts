import type { Database } from './database';
import { openEmbedded } from './embedded/embedded';
import type { PoolBounds } from './postgres/bounded-pool';
import { openPostgres } from './postgres/postgres';

export interface DatabaseOptions extends Partial<Omit<PoolBounds, 'connectMs'>> {
  /** `postgresql://…` */
  readonly url?: string;
  /** Of the embedded database. */
  readonly directory: string;
}

/**
 * Opens the database and applies all migrations: PostgreSQL if `url` is given, otherwise the embedded one in
 * `directory`.
 * @throws Error with a one-line message if it cannot be opened or migrated.
 */
export function openDatabase(options: DatabaseOptions): Promise<Database> {
  const { url, directory, poolSize = 10, queue = 1000, requestTimeoutMs = 10_000 } = options;
  const bounds = { poolSize, queue, requestTimeoutMs };
  return url ? openPostgres(url, bounds) : openEmbedded(directory, bounds);
}
