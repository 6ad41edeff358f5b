import type { Change, ChangeListeners } from './changes';
import type { Prisma } from './generated/client';

/** SQL text with the name it is prepared under. Create it with {@link statement}. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/**
 * Why a statement is quick, and may therefore share a transaction with others issued at the same time: it reads few
 * rows by an index, or it inserts, and changes at most one existing row.
 */
export type Sharing = 'read' | Insertion;

/** A statement that inserts. */
export interface Insertion {
  /** The pet whose stock it changes, or null. Statements that share a transaction lock stock in the order of these ids. */
  readonly stockOf: bigint | null;
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
   * @param sharing what makes it quick, so that it may share a connection; omitted for other statements.
   * @throws the driver's error: see {@link failureOf}.
   */
  query<Row>(statement: Statement, values: readonly unknown[], sharing?: Sharing): Promise<Row[]>;
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
