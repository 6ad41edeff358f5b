import type { Change, ChangeListener } from './changes';
import type { Work } from './deadline';
import type { Prisma } from './generated/client';

/** SQL text with the name it is prepared under. Create it with {@link statement}. */
export interface Statement {
  /** Empty if it is planned anew for the values of each run. */
  readonly name: string;
  readonly text: string;
}

export type Written<Row> = (rows: readonly Row[]) => void;

/**
 * Where a unit of work runs: directly on the database, or inside a transaction. Services take a session as their first
 * argument, so their callers decide what shares a transaction, and until when it runs.
 */
export interface Session {
  /** On whose behalf, and until when, its statements run. Those after the deadline are rejected with its reason. */
  readonly work: Work;
  /**
   * Runs one prepared statement that reads. Returns `int8` as `bigint`, `timestamptz` as `Date`.
   * @param isShortRead whether it reads few rows by an index: it may share a connection.
   * @throws Ended at the deadline, otherwise the driver's error: see {@link failureOf}.
   */
  query<Row>(statement: Statement, values: readonly unknown[], isShortRead?: boolean): Promise<Row[]>;
  /**
   * Runs one prepared statement that writes.
   * @param written called with the rows once they are written, even if nobody waits for them any more.
   * @throws Ended at the deadline, if nothing was written; OutcomeUnknown if that is not known; otherwise the driver's error.
   */
  write<Row>(statement: Statement, values: readonly unknown[], written?: Written<Row>): Promise<Row[]>;
  /**
   * Runs `work` in one transaction (within a transaction: as part of it), which is rolled back if it throws.
   * Serialization failures and deadlocks are retried a few times, so `work` must have no other side effects.
   * @throws Ended at the deadline, OutcomeUnknown if the commit had been sent by then.
   */
  transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>;
  /** The same with a deadline of its own, for one event of a subscription. */
  renewed(): Session;
  /** Notifies listeners of a change once it is committed; never if it is rolled back. */
  changed(change: Change): void;
}

export interface Transaction extends Session {
  /** The Prisma models. */
  readonly prisma: Prisma.TransactionClient;
}

/** An open database. Its own statements are the service's: each has a deadline of its own. */
export interface Database extends Session {
  /** Human-readable description: `embedded PostgreSQL 18 in ./data`. */
  readonly description: string;
  /** Listeners to the changes made through this database. */
  readonly listeners: Set<ChangeListener>;
  readonly load: PoolLoad;
  /** The Prisma models, for short statements of the service itself. */
  readonly prisma: Prisma.TransactionClient;
  /** The session in which this work is done. */
  sessionFor(work: Work): Session;
  /** Whether it can be written to: a database that responds may be read-only, or its disk full. Rejects if it does not respond. */
  canWrite(): Promise<boolean>;
  close(): Promise<void>;
}

/** Total and idle connections, and the number of statements and transactions waiting for one. */
export interface PoolLoad {
  readonly total: number;
  readonly idle: number;
  readonly waiting: number;
}
