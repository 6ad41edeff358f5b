import type { Change, ChangeListeners } from './changes';
import type { Prisma } from './generated/client';

/** SQL text with the name it is prepared under. Create it with {@link statement}. */
export interface Statement {
  /** Empty if it is planned anew for the values of each run. */
  readonly name: string;
  readonly text: string;
}

/**
 * Where a unit of work runs: directly on the database, or inside a transaction. Services take a session as their first
 * argument, so their callers decide what shares a transaction.
 */
export interface Session {
  /** The Prisma models. */
  readonly prisma: Prisma.TransactionClient;
  /**
   * Runs one prepared statement. Returns `int8` as `bigint`, `timestamptz` as `Date`.
   * @param isShortRead whether it only reads, and few rows by an index: it may share a connection, and be run twice.
   * @throws the driver's error: see {@link failureOf}.
   */
  query<Row>(statement: Statement, values: readonly unknown[], isShortRead?: boolean): Promise<Row[]>;
  /**
   * Runs `work` in one transaction (within a transaction: in a savepoint), which is rolled back if it throws.
   * Serialization failures and deadlocks are retried a few times, so `work` must have no other side effects.
   */
  transaction<T>(work: (session: Session) => Promise<T>): Promise<T>;
  /** Notifies listeners of a change once it is committed; never if it is rolled back. */
  changed(change: Change): void;
}

/** An open database. */
export interface Database extends Session {
  /** Human-readable description: `embedded PostgreSQL 17 in ./data`. */
  readonly description: string;
  /** Listeners to the changes made through this database. */
  readonly listeners: ChangeListeners;
  /** Usage of its connection pool; `undefined` if it has none. */
  readonly load?: PoolLoad;
  /** Rejects if the database does not respond. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** Total and idle connections, and the number of statements and transactions waiting for one. */
export interface PoolLoad {
  readonly total: number;
  readonly idle: number;
  readonly waiting: number;
}
