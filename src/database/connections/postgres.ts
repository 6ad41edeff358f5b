import { PrismaPg } from '@prisma/adapter-pg';
import { Client } from 'pg';
import type { PoolLoad, Statement } from '../database';
import { reasonOf } from '../failures';
import { PrismaClient } from '../generated/client';
import { PrismaDatabase } from '../prisma-database';
import { migrate } from '../setup/migrations';
import { BoundedPool } from './bounded-pool';
import { connectionTo, placeOf } from './connection-settings';
import { Connections } from './connections';

export interface PostgresOptions {
  /** `postgresql://…` */
  readonly url: string;
  /** Maximum number of connections. */
  readonly poolSize?: number;
  /** Maximum number of statements and transactions waiting for a connection. */
  readonly queue?: number;
  /** How long a request may take, in milliseconds. Statements get slightly less, so that they end before it does. */
  readonly requestTimeoutMs?: number;
  readonly isTraced?: boolean;
}

const STATEMENT_SHARE = 0.9;
const CONNECT_SHARE = 0.5;
const MAX_CONNECT_MS = 5_000;

/** A PostgreSQL server. Prisma and the prepared statements share its connections. */
export class PostgresDatabase extends PrismaDatabase {
  private constructor(
    private readonly connections: Connections,
    private readonly probe: BoundedPool,
    description: string,
    statementMs: number,
  ) {
    const prisma = new PrismaClient({
      adapter: new PrismaPg(connections.pool),
      // The other formats quote the source code, which is read for each error: during an outage, for every request.
      errorFormat: 'minimal',
      transactionOptions: { maxWait: MAX_CONNECT_MS, timeout: statementMs },
    });
    super(prisma, description);
  }

  /**
   * Connects, and applies pending migrations.
   * @throws Error with a one-line message that says where, without the password in `url`.
   */
  static async open(options: PostgresOptions): Promise<PostgresDatabase> {
    const { url, poolSize = 10, queue = 1000, requestTimeoutMs = 10_000, isTraced } = options;
    const description = `PostgreSQL at ${placeOf(url)}`;
    const statementMs = Math.ceil(requestTimeoutMs * STATEMENT_SHARE);
    const connectMs = Math.min(MAX_CONNECT_MS, Math.ceil(requestTimeoutMs * CONNECT_SHARE));
    try {
      await migrateAt(url);
    } catch (error) {
      throw new Error(`${description} cannot be opened: ${reasonOf(error)}`, { cause: error });
    }
    const connections = new Connections(url, { size: poolSize, queue, statementMs, connectMs, isTraced });
    const probe = BoundedPool.ofOne(url, statementMs, connectMs);
    return new PostgresDatabase(connections, probe, description, statementMs);
  }

  get load(): PoolLoad {
    return this.connections.load;
  }

  query<Row>(statement: Statement, values: readonly unknown[], isShortRead?: boolean): Promise<Row[]> {
    return this.connections.query(statement, values, isShortRead);
  }

  async ping(): Promise<void> {
    await this.probe.query('select 1');
  }

  async close(): Promise<void> {
    await this.prisma.$disconnect();
    await Promise.all([this.connections.close(), this.probe.end()]);
  }
}

/** Runs the migrations on their own connection, outside the pool. */
async function migrateAt(url: string): Promise<void> {
  const client = new Client({ ...connectionTo(url), connectionTimeoutMillis: MAX_CONNECT_MS });
  // Each failure reaches the statement it concerns; without a listener the event would crash the process.
  client.on('error', () => undefined);
  await client.connect();
  try {
    await migrate({
      script: async (sql) => void (await client.query(sql)),
      rows: async (sql, values) => (await client.query(sql, values)).rows,
    });
  } finally {
    await client.end();
  }
}
