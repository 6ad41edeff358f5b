import type { Database } from '../database';
import { reasonOf } from '../failures';
import { GatewayDatabase } from '../gateway-database';
import { migrate, migrationsOn } from '../migrations';
import type { PoolBounds } from './bounded-pool';
import { PostgresEngine } from './postgres-engine';
import { PostgresServer } from './postgres-server';

const CONNECT_SHARE = 0.5;
const MAX_CONNECT_MS = 5_000;

/**
 * Connects to a PostgreSQL server, and applies pending migrations. Prisma's models and the gateway's own statements share
 * one connection pool.
 * @throws Error with a one-line message that names the server, without the password in `url`.
 */
export async function openPostgres(url: string, bounds: Omit<PoolBounds, 'connectMs'>): Promise<Database> {
  const { requestTimeoutMs } = bounds;
  const server = new PostgresServer(url);
  const description = `PostgreSQL at ${server.place}`;
  const connectMs = Math.min(MAX_CONNECT_MS, Math.ceil(requestTimeoutMs * CONNECT_SHARE));
  try {
    await migrateAt(server);
    const engine = new PostgresEngine(server, { ...bounds, connectMs });
    return new GatewayDatabase(engine, description, requestTimeoutMs);
  } catch (error) {
    throw new Error(`${description} cannot be opened: ${reasonOf(error)}`, { cause: error });
  }
}

/** Runs the migrations on a separate connection, outside the pool. */
async function migrateAt(server: PostgresServer): Promise<void> {
  const client = await server.connect(MAX_CONNECT_MS);
  try {
    await migrate(migrationsOn(client));
  } finally {
    await client.end();
  }
}
