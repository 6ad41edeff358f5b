import { PrismaPg } from '@prisma/adapter-pg';
import { Server } from '../../postgres/database-server';
import { Failover } from '../../postgres/failover';
import { findPooler } from '../../postgres/pooler';
import type { PoolLoad } from '../database';
import { reasonOf } from '../failures';
import { PrismaClient } from '../generated/client';
import { migrate, migrationsOn } from '../migrations';
import { BoundedAdapter, type Unit } from '../work/bounded-adapter';
import type { Work } from '../work/deadline';
import { type Command, PrismaDatabase } from '../work/prisma-database';
import { settled } from '../work/settled';
import { Connections } from './connections';

export interface PostgresOptions {
  /** `postgresql://…` */
  readonly url: string;
  /** Maximum number of connections. */
  readonly poolSize?: number;
  /** Maximum number of statements and transactions waiting for a connection. */
  readonly queue?: number;
  /** How long a request may take, in milliseconds. */
  readonly requestTimeoutMs?: number;
  readonly isTraced?: boolean;
}

const CONNECT_SHARE = 0.5;
const MAX_CONNECT_MS = 5_000;

/** A PostgreSQL server. Prisma and the prepared statements share its connections. */
export class PostgresDatabase extends PrismaDatabase {
  private constructor(
    private readonly connections: Connections,
    private readonly failover: Failover | undefined,
    description: string,
    requestTimeoutMs: number,
  ) {
    // Prisma's own limits: ours, of which it knows nothing, end first.
    const limit = 2 * requestTimeoutMs;
    const adapter = new BoundedAdapter(new PrismaPg(connections.pool));
    const prisma = new PrismaClient({
      adapter,
      // The other formats quote the source code, which is read for each error: during an outage, for every request.
      errorFormat: 'minimal',
      transactionOptions: { maxWait: limit, timeout: limit },
    });
    super(prisma, adapter, description, requestTimeoutMs);
  }

  /**
   * Connects, and applies pending migrations.
   * @throws Error with a one-line message that says where, without the password in `url`.
   */
  static async open(options: PostgresOptions): Promise<PostgresDatabase> {
    const { url, poolSize = 10, queue = 1000, requestTimeoutMs = 10_000, isTraced } = options;
    const server = new Server(url);
    const description = `PostgreSQL at ${server.place}`;
    const connectMs = Math.min(MAX_CONNECT_MS, Math.ceil(requestTimeoutMs * CONNECT_SHARE));
    try {
      if (server.hosts.length > 1) await server.locate(MAX_CONNECT_MS);
      await migrateAt(server);
      const pooler = await findPooler(server);
      const bounds = { size: poolSize, queue, requestTimeoutMs, connectMs, isTraced };
      const connections = new Connections(server, bounds, pooler);
      const failover = server.hosts.length > 1 ? new Failover(server, () => connections.canWrite()) : undefined;
      const through = pooler ? ', through a pooler of transactions' : '';
      return new PostgresDatabase(connections, failover, description + through, requestTimeoutMs);
    } catch (error) {
      throw new Error(`${description} cannot be opened: ${reasonOf(error)}`, { cause: error });
    }
  }

  get load(): PoolLoad {
    return this.connections.load;
  }

  protected run<Row>(work: Work, command: Command<Row>): Promise<Row[]> {
    return this.connections.run(work, command);
  }

  protected perform<T>(unit: Unit, run: () => Promise<T>): Promise<T> {
    return settled(run(), unit.deadline, () => unit.isCommitting === true);
  }

  ping(): Promise<void> {
    return this.connections.ping();
  }

  canWrite(): Promise<boolean> {
    return this.connections.canWrite();
  }

  async close(): Promise<void> {
    this.failover?.stop();
    await this.prisma.$disconnect();
    await this.connections.close();
  }
}

/** Runs the migrations on their own connection, outside the pool. */
async function migrateAt(server: Server): Promise<void> {
  const client = await server.connect({ connectionTimeoutMillis: MAX_CONNECT_MS });
  try {
    await migrate(migrationsOn(client));
  } finally {
    await client.end();
  }
}
