import type { Database } from '../database';
import { GatewayDatabase } from '../gateway-database';
import { migrate, migrationsOn } from '../migrations';
import type { PoolBounds } from '../postgres/bounded-pool';
import { PostgresEngine } from '../postgres/postgres-engine';
import { claimDirectory, MAJOR_VERSION } from './cluster';
import { EmbeddedServer } from './embedded-server';
import { Upkeep } from './upkeep';

/**
 * Number of connections. Statements run one at a time, so a few connections keep the database busy. With more connections,
 * one caller's statements could delay the statements of other callers for longer.
 */
const POOL_SIZE = 5;

/** How much longer than a request's time limit a transaction may wait for its client, in milliseconds. */
const SLACK_MS = 1_000;

type Bounds = Pick<PoolBounds, 'queue' | 'requestTimeoutMs'>;

/**
 * Opens the embedded database in `directory`, and creates it if needed.
 * @throws Error with a one-line message if another process has the database open, the database is from a different
 * PostgreSQL version, or its disk is full.
 */
export async function openEmbedded(directory: string, bounds: Bounds): Promise<Database> {
  const { lock } = await claimDirectory(directory);
  const idleMs = bounds.requestTimeoutMs + SLACK_MS;
  const server = await EmbeddedServer.start({ files: { directory, proof: lock.proof }, idleMs }, lock.release);
  return connectTo(server, `embedded PostgreSQL ${MAJOR_VERSION} in ${directory}`, bounds);
}

/**
 * Migrates an embedded database, and opens the connections to it.
 * @throws Error with a one-line message if the database cannot be migrated. The server is then closed.
 */
export async function connectTo(server: EmbeddedServer, description: string, bounds: Bounds): Promise<Database> {
  try {
    const client = await server.connect();
    await migrate(migrationsOn(client));
    const connections = new EmbeddedEngine(server, bounds, new Upkeep(client));
    return new GatewayDatabase(connections, description, bounds.requestTimeoutMs);
  } catch (error) {
    await server.close();
    throw error;
  }
}

class EmbeddedEngine extends PostgresEngine {
  constructor(
    server: EmbeddedServer,
    bounds: Bounds,
    private readonly upkeep: Upkeep,
  ) {
    super(server, { ...bounds, poolSize: POOL_SIZE });
  }

  override async close(): Promise<void> {
    await this.upkeep.stop();
    await super.close();
  }
}
