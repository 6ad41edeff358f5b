import type { Client } from 'pg';
import { GatewayDatabase } from '../gateway-database';
import { type MigrationConnection, migrate, migrationsOn } from '../migrations';
import type { PoolBounds } from '../postgres/bounded-pool';
import { MAJOR_VERSION } from './cluster';
import { makeDataDirectory } from './data-directory';
import { DatabaseThread } from './database-thread';
import { lockDirectory } from './directory-lock';
import { EmbeddedEngine } from './embedded-engine';

type Bounds = Pick<PoolBounds, 'queue' | 'requestTimeoutMs'>;

/** `COPY … FROM STDIN` makes PostgreSQL wait for data. PGlite cannot wait, and ends its session. */
const COPY_IN = /\bcopy\b[^;]*\bfrom\s+stdin\b/i;

/**
 * Opens the embedded database in `directory`, and creates it if needed.
 * @param onThread called when the thread of the database has started.
 * @throws Error with a one-line message if another process has the database open, or the database is from a different
 * PostgreSQL version.
 */
export async function openEmbedded(
  directory: string,
  bounds: Bounds,
  onThread: () => void = () => undefined,
): Promise<GatewayDatabase> {
  makeDataDirectory(directory);
  const { proof, release } = await lockDirectory(directory);
  const started = DatabaseThread.start({ directory, proof }, release);
  onThread();
  const thread = await started;
  return connectTo(thread, `embedded PostgreSQL ${MAJOR_VERSION} in ${directory}`, bounds);
}

/**
 * Migrates an embedded database.
 * @throws Error with a one-line message if the database cannot be migrated. The database is then closed.
 */
export async function connectTo(thread: DatabaseThread, description: string, bounds: Bounds): Promise<GatewayDatabase> {
  try {
    await migrate(migrationsOnEmbedded(thread.client));
    return new GatewayDatabase(new EmbeddedEngine(thread, bounds), description, bounds);
  } catch (error) {
    await thread.close();
    throw error;
  }
}

/** Rejects migrations that would end the session. */
export function migrationsOnEmbedded(client: Client): MigrationConnection {
  const connection = migrationsOn(client);
  return {
    rows: connection.rows,
    script: async (sql) => {
      if (COPY_IN.test(sql)) throw new Error('the embedded database cannot run COPY FROM STDIN; use INSERT');
      await connection.script(sql);
    },
  };
}
