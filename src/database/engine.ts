import type { PoolLoad, Statement, Written } from './database';
import type { Work } from './deadline';
import type { Prisma } from './generated/client';

/** A `short-read` reads only a few rows through an index. It may share a connection with other short reads. */
export type StatementKind = 'short-read' | 'read' | 'write';

/** A statement to run outside of a transaction. */
export interface Command<Row> {
  readonly statement: Statement;
  readonly values: readonly unknown[];
  readonly kind: StatementKind;
  /** See {@link Session.write}. */
  readonly written?: Written<Row>;
}

/** A transaction in progress. After the transaction has ended, or after its deadline, its statements are rejected. */
export interface OpenTransaction {
  readonly prisma: Prisma.TransactionClient;
  query<Row>(statement: Statement, values: readonly unknown[]): Promise<Row[]>;
}

/** Runs statements and transactions, each until its deadline. */
export interface Engine {
  readonly load: PoolLoad;
  /** See {@link Database.prisma}. */
  readonly prisma: Prisma.TransactionClient;
  /** @throws as {@link Session.query} and {@link Session.write}. */
  run<Row>(work: Work, command: Command<Row>): Promise<Row[]>;
  /**
   * Runs a transaction once.
   * @param onCommit called when the commit has succeeded, even if the caller has stopped waiting.
   * @throws as {@link Session.transaction}.
   */
  transact<T>(work: Work, run: (transaction: OpenTransaction) => Promise<T>, onCommit: () => void): Promise<T>;
  /** See {@link Database.canWrite}. */
  canWrite(): Promise<boolean>;
  close(): Promise<void>;
}
