import { PrismaPg } from '@prisma/adapter-pg';
import { Client, type PoolConfig, type QueryConfig, types } from 'pg';
import { BoundedPool } from './bounded-pool';
import type { Database, PoolLoad, Session, Statement } from './database';
import { failureOf, isTransient, reasonOf } from './failures';
import { PrismaClient } from './generated/client';
import { migrate } from './migrations';
import { transaction } from './prisma-session';
import { SharedConnections } from './shared-connections';

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
/** Above a statement's own limit: who hears nothing for so much longer has lost the server. */
const SILENCE_MS = 500;
/** Connections that short reads share; more of them would gather fewer statements each. */
const MAX_SHARED = 2;

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
    private readonly shared: SharedConnections,
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
    const shared = Math.min(MAX_SHARED, Math.floor(poolSize / 4));
    const silenceMs = statementMs + SILENCE_MS;
    const settings = sessionSettings(statementMs, silenceMs);
    const pool = new BoundedPool(
      { ...connection(url), idleTimeoutMillis: 30_000 },
      { size: poolSize - shared, queue, connectMs, silenceMs, settings },
    );
    const reads = new SharedConnections(
      { ...connection(url), connectionTimeoutMillis: connectMs },
      { size: shared, silenceMs, settings },
    );
    return new PostgresDatabase(pool, reads, description, statementMs);
  }

  get load(): PoolLoad {
    const { totalCount, idleCount, waitingCount } = this.pool;
    const { total, idle } = this.shared.load;
    return { total: totalCount + total, idle: idleCount + idle, waiting: waitingCount };
  }

  async query<Row>(
    { name, text }: Statement,
    values: readonly unknown[],
    isShortRead = false,
  ): Promise<Row[]> {
    const bound = { name, text, values: values.map(exactDate), types: typeParsers };
    const shared = isShortRead ? this.shared.read(bound) : undefined;
    try {
      return (await (shared ?? this.run(bound))) as Row[];
    } catch (error) {
      // A read that lost the connection it shared, like a statement that lost a deadlock, has changed nothing.
      if (isTransient(error) || (shared && failureOf(error) !== 'timeout'))
        return (await this.run(bound)) as Row[];
      throw error;
    }
  }

  transaction<T>(work: (session: Session) => Promise<T>): Promise<T> {
    return transaction(this.prisma, work);
  }

  async ping(): Promise<void> {
    await this.pool.query('select 1');
  }

  async close(): Promise<void> {
    await Promise.all([this.prisma.$disconnect(), this.shared.close()]);
    // Not left to Prisma, which ends a pool only if it has used it; what is idle would keep the process alive.
    if (!this.pool.ended) await this.pool.end();
  }

  private async run(statement: QueryConfig): Promise<unknown[]> {
    return (await this.pool.query(statement)).rows;
  }
}

/**
 * Prisma writes and reads timestamps as if every session were in UTC, whatever the server's own zone is. A transaction
 * whose client is silent holds its locks no longer than a statement may take.
 */
function sessionSettings(statementMs: number, silenceMs: number): string {
  return `set timezone to 'UTC'; set statement_timeout to ${statementMs}; set idle_in_transaction_session_timeout to ${silenceMs}`;
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
