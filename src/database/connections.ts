import { type ClientConfig, types } from 'pg';
import { BoundedPool } from './bounded-pool';
import { connectionTo, sessionOf } from './connection';
import type { PoolLoad, Sharing, Statement } from './database';
import { failureOf, isTransient } from './failures';
import { PreparedQuery } from './prepared-query';
import { SharedConnections } from './shared-connections';
import { UndoneError } from './statement-group';

export interface ConnectionsOptions {
  /** Maximum number of connections. */
  readonly size: number;
  /** Maximum number of statements and transactions waiting for a connection. */
  readonly queue: number;
  /** Time limit of a statement, in milliseconds. */
  readonly statementMs: number;
  /** How long to wait for an idle or new connection, in milliseconds. */
  readonly connectMs: number;
  /** Whether each statement is sent on its own, so that it has its own span. */
  readonly isTraced?: boolean;
}

/** Maximum numbers of connections shared by quick statements: with more, each would batch fewer statements. */
const MAX_SHARED = { reads: 2, inserts: 1 };
/** Their maximum share of all connections. */
const SHARES = { reads: 0.2, inserts: 0.1 };

/**
 * How long a batched insert waits for a lock, in milliseconds; on its own it may wait as long as a statement may take.
 */
const LOCK_MS = 50;

const INT8 = 20;

const typeParsers = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    return oid === INT8 ? BigInt : types.getTypeParser(oid, format);
  },
} as ClientConfig['types'];

/** The connections to one server: those checked out one at a time, and those shared by quick statements. */
export class Connections {
  readonly pool: BoundedPool;
  private readonly shared: Readonly<Record<keyof typeof MAX_SHARED, SharedConnections>>;

  constructor(url: string, { size, queue, statementMs, connectMs, isTraced }: ConnectionsOptions) {
    const sharedBy = (kind: keyof typeof MAX_SHARED) =>
      isTraced ? 0 : Math.min(MAX_SHARED[kind], Math.floor(size * SHARES[kind]));
    const session = sessionOf(statementMs);
    const config = { ...connectionTo(url), types: typeParsers };
    this.pool = new BoundedPool(
      { ...config, idleTimeoutMillis: 30_000 },
      { size: size - sharedBy('reads') - sharedBy('inserts'), queue, connectMs, ...session },
    );
    const share = (kind: keyof typeof MAX_SHARED, lockMs?: number) =>
      new SharedConnections(
        { ...config, connectionTimeoutMillis: connectMs },
        { size: sharedBy(kind), lockMs, ...session },
      );
    this.shared = { reads: share('reads'), inserts: share('inserts', LOCK_MS) };
  }

  get load(): PoolLoad {
    const { totalCount, idleCount, waitingCount } = this.pool;
    const { reads, inserts } = this.shared;
    return {
      total: totalCount + reads.load.total + inserts.load.total,
      idle: idleCount + reads.load.idle + inserts.load.idle,
      waiting: waitingCount,
    };
  }

  /** Runs one prepared statement: see {@link Session.query}. */
  async query<Row>(statement: Statement, values: readonly unknown[], sharing?: Sharing): Promise<Row[]> {
    const exact = values.map(exactDate);
    const shared = sharing && this.share(new PreparedQuery(statement, exact), sharing);
    try {
      return (await (shared ?? this.run(statement, exact))) as Row[];
    } catch (error) {
      // A statement rolled back with its group or by a deadlock changed nothing; nor did a read that lost its
      // connection.
      if (
        error instanceof UndoneError ||
        isTransient(error) ||
        (shared && sharing === 'read' && failureOf(error) !== 'timeout')
      )
        return (await this.run(statement, exact)) as Row[];
      throw error;
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.shared.reads.close(), this.shared.inserts.close()]);
    // If Prisma used the pool, it may have ended it already; otherwise idle connections would keep the process alive.
    if (!this.pool.ended) await this.pool.end();
  }

  private share(query: PreparedQuery, sharing: Sharing): Promise<unknown[]> | undefined {
    const { reads, inserts } = this.shared;
    return sharing === 'read' ? reads.query(query) : inserts.query(query, sharing.stockOf);
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

/** node-postgres serialises dates in the process's time zone with offsets rounded to minutes: inexact before 1900. */
function exactDate(value: unknown): unknown {
  return value instanceof Date ? value.toISOString() : value;
}
