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
}

/**
 * Opens PostgreSQL at `url`, or the embedded database in `directory` if there is no `url`. Applies all pending migrations.
 * @throws Error with a one-line message if the database cannot be opened or migrated.
 */
export function openDatabase(options: DatabaseOptions): Promise<GatewayDatabase> {
  const { url, directory, poolSize = 10, queue = 1000, requestTimeoutMs = 10_000 } = options;
  const bounds = { poolSize, queue, requestTimeoutMs };
  return url ? openPostgres(url, bounds, options) : openEmbedded(directory, bounds);
}
