import { PrismaPg } from '@prisma/adapter-pg';
import { Client, type PoolConfig, types } from 'pg';
import { BoundedPool } from './bounded-pool';
import type { Database, PoolLoad, Session, Statement } from './database';
import { isTransient, reasonOf } from './failures';
import { PrismaClient } from './generated/client';
import { migrate } from './migrations';
import { transaction } from './prisma-session';

export interface PostgresOptions {
  /** `postgresql://…` */
  readonly url: string;
  /** Connections at most. */
  readonly poolSize?: number;
  /** How many statements and transactions may wait for a connection. */
  readonly queue?: number;
  /** How long a request may take, in milliseconds: its statements get a little less, so that they end before it does. */
  readonly requestTimeoutMs?: number;
}

const STATEMENT_SHARE = 0.9;
const CONNECT_SHARE = 0.5;
const MAX_CONNECT_MS = 5_000;

const INT8 = 20;

const typeParsers = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    return oid === INT8 ? BigInt : types.getTypeParser(oid, format);
  },
} as PoolConfig['types'];

/** A PostgreSQL server: one pool that Prisma and the prepared statements share. */
export class PostgresDatabase implements Database {
  readonly prisma: PrismaClient;

  private constructor(
    private readonly pool: BoundedPool,
    readonly description: string,
    statementMs: number,
  ) {
    this.prisma = new PrismaClient({
      adapter: new PrismaPg(pool),
      // Others quote the source, which is read for each error: in an outage for every request.
      errorFormat: 'minimal',
      transactionOptions: { maxWait: MAX_CONNECT_MS, timeout: statementMs },
    });
  }

  /**
   * Connects, and applies what migrations the database lacks.
   * @throws Error in one line that says where, without the password of `url`.
   */
  static async open(options: PostgresOptions): Promise<PostgresDatabase> {
    const { url, poolSize = 10, queue = 1000, requestTimeoutMs = 10_000 } = options;
    const { host, pathname } = new URL(url);
    const description = `PostgreSQL at ${host}${pathname}`;
    const statementMs = Math.ceil(requestTimeoutMs * STATEMENT_SHARE);
    const connectMs = Math.min(MAX_CONNECT_MS, Math.ceil(requestTimeoutMs * CONNECT_SHARE));
    try {
      await migrateAt(url);
    } catch (error) {
      throw new Error(`${description} cannot be opened: ${reasonOf(error)}`, { cause: error });
    }
    const pool = new BoundedPool(
      { ...connection(url), idleTimeoutMillis: 30_000 },
      { size: poolSize, queue, statementMs, connectMs },
    );
    return new PostgresDatabase(pool, description, statementMs);
  }

  get load(): PoolLoad {
    const { totalCount, idleCount, waitingCount } = this.pool;
    return { total: totalCount, idle: idleCount, waiting: waitingCount };
  }

  async query<Row>(statement: Statement, values: readonly unknown[]): Promise<Row[]> {
    const { name, text } = statement;
    const run = () => this.pool.query({ name, text, values: values.map(exactDate), types: typeParsers });
    const result = await run().catch((error) => {
      // A statement of its own that lost a deadlock has changed nothing: it is its own retry.
      if (!isTransient(error)) throw error;
      return run();
    });
    return result.rows as Row[];
  }

  transaction<T>(work: (session: Session) => Promise<T>): Promise<T> {
    return transaction(this.prisma, work);
  }

  async ping(): Promise<void> {
    await this.pool.query('select 1');
  }

  async close(): Promise<void> {
    await this.prisma.$disconnect();
    // Not left to Prisma, which ends a pool only if it has used it; what is idle would keep the process alive.
    if (!this.pool.ended) await this.pool.end();
  }
}

/** node-postgres spells dates in the zone of this process, whose offset it rounds to minutes; before 1900 that is not exact. */
function exactDate(value: unknown): unknown {
  return value instanceof Date ? value.toISOString() : value;
}

function connection(connectionString: string) {
  return { connectionString, keepAlive: true, application_name: 'petstore-gateway' };
}

/** On a connection of its own: the runner's lock belongs to it, and a migration may take its time. */
async function migrateAt(url: string): Promise<void> {
  const client = new Client({ ...connection(url), connectionTimeoutMillis: MAX_CONNECT_MS });
  // Each failure reaches the statement it concerns; an event nobody listens to would end the process.
  client.on('error', () => undefined);
  await client.connect();
  try {
    await client.query("set timezone to 'UTC'; set statement_timeout to 0");
    await migrate({
      script: async (sql) => void (await client.query(sql)),
      rows: async (sql, values) => (await client.query(sql, values)).rows,
    });
  } finally {
    await client.end();
  }
}
