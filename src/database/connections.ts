import { type ClientConfig, types } from 'pg';
import { BoundedPool } from './bounded-pool';
import { connectionTo, sessionOf } from './connection';
import type { PoolLoad, Sharing, Statement } from './database';
import { failureOf, isTransient } from './failures';
import { PreparedQuery } from './prepared-query';
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

/** Connections that quick statements share: more would gather fewer statements each, fewer would wait for each commit. */
const MAX_SHARED = { read: 2, write: 3 };
/** The part of all connections that these are at most. */
const SHARES = { read: 0.2, write: 0.3 };

const INT8 = 20;

const typeParsers = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    return oid === INT8 ? BigInt : types.getTypeParser(oid, format);
  },
} as ClientConfig['types'];

/** The connections to one server: those that are taken one by one, and those that quick statements share. */
export class Connections {
  readonly pool: BoundedPool;
  private readonly shared: Readonly<Record<Sharing, SharedConnections>>;

  constructor(url: string, { size, queue, statementMs, connectMs }: ConnectionsOptions) {
    const sharedBy = (sharing: Sharing) => Math.min(MAX_SHARED[sharing], Math.floor(size * SHARES[sharing]));
    const session = sessionOf(statementMs);
    const config = { ...connectionTo(url), types: typeParsers };
    this.pool = new BoundedPool(
      { ...config, idleTimeoutMillis: 30_000 },
      { size: size - sharedBy('read') - sharedBy('write'), queue, connectMs, ...session },
    );
    const share = (sharing: Sharing) =>
      new SharedConnections(
        { ...config, connectionTimeoutMillis: connectMs },
        { size: sharedBy(sharing), ...session },
      );
    this.shared = { read: share('read'), write: share('write') };
  }

  get load(): PoolLoad {
    const { totalCount, idleCount, waitingCount } = this.pool;
    const { read, write } = this.shared;
    return {
      total: totalCount + read.load.total + write.load.total,
      idle: idleCount + read.load.idle + write.load.idle,
      waiting: waitingCount,
    };
  }

  /** Runs one prepared statement: see {@link Session.query}. */
  async query<Row>(statement: Statement, values: readonly unknown[], sharing?: Sharing): Promise<Row[]> {
    const exact = values.map(exactDate);
    const shared = sharing && this.shared[sharing].query(new PreparedQuery(statement, exact));
    try {
      return (await (shared ?? this.run(statement, exact))) as Row[];
    } catch (error) {
      // A read that lost the connection it shared, like a statement that lost a deadlock, has changed nothing.
      if (isTransient(error) || (shared && sharing === 'read' && failureOf(error) !== 'timeout'))
        return (await this.run(statement, exact)) as Row[];
      throw error;
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.shared.read.close(), this.shared.write.close()]);
    // Prisma may have ended it, if it has used it; what is idle would keep the process alive.
    if (!this.pool.ended) await this.pool.end();
  }

  private run(statement: Statement, values: unknown[]): Promise<unknown[]> {
    return new Promise((resolve, reject) => {
      this.pool.query(new PreparedQuery(statement, values), (error, result) => {
        if (error) reject(error);
        else resolve(result.rows);
      });
    });
  }
}

/** node-postgres spells dates in the zone of this process, whose offset it rounds to minutes; before 1900 that is not exact. */
function exactDate(value: unknown): unknown {
  return value instanceof Date ? value.toISOString() : value;
}
