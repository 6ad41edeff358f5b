import { type PoolConfig, type QueryConfig, types } from 'pg';
import { BoundedPool } from './bounded-pool';
import { connectionTo, sessionOf } from './connection';
import type { PoolLoad, Statement } from './database';
import { failureOf, isTransient } from './failures';
import { SharedConnections } from './shared-connections';

export interface ConnectionsOptions {
  /** Connections at most. */
  readonly size: number;
  /** How many statements and transactions may wait for one. */
  readonly queue: number;
  /** How long a statement may take, in milliseconds. */
  readonly statementMs: number;
  /** How long to wait for a connection, free or new. */
  readonly connectMs: number;
}

/** Connections that short reads share; more of them would gather fewer statements each. */
const MAX_SHARED = 2;

const INT8 = 20;

const typeParsers = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    return oid === INT8 ? BigInt : types.getTypeParser(oid, format);
  },
} as PoolConfig['types'];

/** The connections to one server: those that are taken one by one, and those that short reads share. */
export class Connections {
  readonly pool: BoundedPool;
  private readonly shared: SharedConnections;

  constructor(url: string, { size, queue, statementMs, connectMs }: ConnectionsOptions) {
    const shared = Math.min(MAX_SHARED, Math.floor(size / 4));
    const session = sessionOf(statementMs);
    this.pool = new BoundedPool(
      { ...connectionTo(url), idleTimeoutMillis: 30_000 },
      { size: size - shared, queue, connectMs, ...session },
    );
    this.shared = new SharedConnections(
      { ...connectionTo(url), connectionTimeoutMillis: connectMs },
      { size: shared, ...session },
    );
  }

  get load(): PoolLoad {
    const { totalCount, idleCount, waitingCount } = this.pool;
    const { total, idle } = this.shared.load;
    return { total: totalCount + total, idle: idleCount + idle, waiting: waitingCount };
  }

  /** Runs one prepared statement: see {@link Session.query}. */
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

  async close(): Promise<void> {
    await this.shared.close();
    // Prisma may have ended it, if it has used it; what is idle would keep the process alive.
    if (!this.pool.ended) await this.pool.end();
  }

  private async run(statement: QueryConfig): Promise<unknown[]> {
    return (await this.pool.query(statement)).rows;
  }
}

/** node-postgres spells dates in the zone of this process, whose offset it rounds to minutes; before 1900 that is not exact. */
function exactDate(value: unknown): unknown {
  return value instanceof Date ? value.toISOString() : value;
}
