import { openEmbedded } from './embedded/open-embedded';
import type { GatewayDatabase } from './gateway-database';
import type { MigrationOptions } from './migrations';
import type { PoolBounds } from './postgres/bounded-pool';
import { openPostgres } from './postgres/open-postgres';

interface DatabaseOptions extends MigrationOptions, Partial<Omit<PoolBounds, 'connectMs'>> {
  /** `postgresql://…` */
  readonly url?: string;
  /** The data directory of the embedded database. */
  readonly directory: string;
  /**
   * Called when the thread of the embedded database has started. The calling thread may then be busy for some time, without
   * delaying the database. With PostgreSQL, called at once.
   */
  readonly onThread?: () => void;
}

/**
 * Opens PostgreSQL at `url`, or the embedded database in `directory` if there is no `url`. Applies all pending migrations.
 * @throws Error with a one-line message if the database cannot be opened or migrated.
 */
export function openDatabase(options: DatabaseOptions): Promise<GatewayDatabase> {
  const { url, directory, poolSize = 10, queue = 1000, requestTimeoutMs = 10_000, onThread } = options;
  const bounds = { poolSize, queue, requestTimeoutMs };
  if (!url) return openEmbedded(directory, bounds, onThread);
  onThread?.();
  return openPostgres(url, bounds, options);
}
