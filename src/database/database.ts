import type { Change, ChangeListeners } from './changes';
import type { Prisma } from './generated/client';

/** SQL text under the name it is prepared by. Make it with {@link statement}. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/**
 * Why a statement is quick, so that it may share a transaction with others that are asked for at the same time: it reads few
 * rows by an index, or it inserts and changes no row but one.
 */
export type Sharing = 'read' | Insertion;

/** A statement that inserts. */
export interface Insertion {
  /** The pet whose stock it changes, null for none. Those that share a transaction lock stock in the order of these ids. */
  readonly stockOf: bigint | null;
}

/**
 * Where a unit of work runs: on the database at large, or inside a transaction. Services take one as their first
 * argument, so whoever calls them decides what shares a transaction.
 */
export interface Session {
  /** The Prisma models. */
  readonly prisma: Prisma.TransactionClient;
  /**
   * Runs one prepared statement. `int8` comes back as `bigint`, `timestamptz` as `Date`.
   * @param sharing what makes it quick, so that it may share a connection with others; left out where nothing does.
   * @throws the driver's error: see {@link failureOf}.
   */
  query<Row>(statement: Statement, values: readonly unknown[], sharing?: Sharing): Promise<Row[]>;
  /**
   * Runs `work` in one transaction (inside a transaction: behind a savepoint). What it throws undoes what it did.
   * Serialization failures and deadlocks are tried again a few times, so `work` has no effects of its own.
   */
  transaction<T>(work: (session: Session) => Promise<T>): Promise<T>;
  /** Tells whoever listens what has been written, as soon as it is committed; if it is rolled back, nobody. */
  changed(change: Change): void;
}

/** An open database. */
export interface Database extends Session {
  /** What it is, for people: `embedded PostgreSQL 17 in ./data`. */
  readonly description: string;
  /** Who hears of what is changed through it. */
  readonly listeners: ChangeListeners;
  /** How its pool of connections is used; `undefined` where there is none. */
  readonly load?: PoolLoad;
  /** Rejects when the database does not answer. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** Connections in all and idle, and how many statements and transactions wait for one. */
export interface PoolLoad {
  readonly total: number;
  readonly idle: number;
  readonly waiting: number;
}
