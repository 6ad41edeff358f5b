import { PrismaPg } from '@prisma/adapter-pg';
import { Client } from 'pg';
import { BoundedPool } from './bounded-pool';
import { type Change, ChangeListeners } from './changes';
import { connectionTo, placeOf, sessionOf } from './connection';
import { Connections } from './connections';
import type { Database, PoolLoad, Session, Sharing, Statement } from './database';
import { reasonOf } from './failures';
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
  readonly isTraced?: boolean;
}

const STATEMENT_SHARE = 0.9;
const CONNECT_SHARE = 0.5;
const MAX_CONNECT_MS = 5_000;

/** A PostgreSQL server, whose connections Prisma and the prepared statements share. */
export class PostgresDatabase implements Database {
  readonly prisma: PrismaClient;
  readonly listeners = new ChangeListeners();

  private constructor(
    private readonly connections: Connections,
    private readonly probe: BoundedPool,
    readonly description: string,
    statementMs: number,
  ) {
    this.prisma = new PrismaClient({
      adapter: new PrismaPg(connections.pool),
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
    // On a connection of its own, so that a server with much to do is not taken for one that is gone.
    const probe = new BoundedPool(
      { ...connectionTo(url), idleTimeoutMillis: 0 },
      { size: 1, queue: 1, connectMs, ...sessionOf(statementMs) },
    );
    return new PostgresDatabase(connections, probe, description, statementMs);
  }

  get load(): PoolLoad {
    return this.connections.load;
  }

  query<Row>(statement: Statement, values: readonly unknown[], sharing?: Sharing): Promise<Row[]> {
    return this.connections.query(statement, values, sharing);
  }

  transaction<T>(work: (session: Session) => Promise<T>): Promise<T> {
    return transaction(this.prisma, (change) => this.changed(change), work);
  }

  changed(change: Change): void {
    this.listeners.tell(change);
  }

  async ping(): Promise<void> {
    await this.probe.query('select 1');
  }

  async close(): Promise<void> {
    await this.prisma.$disconnect();
    await Promise.all([this.connections.close(), this.probe.end()]);
  }
}

/** On a connection of its own, which nobody waits for. */
async function migrateAt(url: string): Promise<void> {
  const client = new Client({ ...connectionTo(url), connectionTimeoutMillis: MAX_CONNECT_MS });
  // Each failure reaches the statement it concerns; an event nobody listens to would end the process.
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
