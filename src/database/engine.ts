import type { PoolLoad, Statement, Written } from './database';
import type { Work } from './deadline';
import type { Prisma } from './generated/client';

/** What a statement is: a read of few rows by an index, which may share a connection; any other read; a write. */
export type StatementKind = 'short-read' | 'read' | 'write';

/** A statement to run outside of a transaction. */
export interface Command<Row> {
  readonly statement: Statement;
  readonly values: readonly unknown[];
  readonly kind: StatementKind;
  /** See {@link Session.write}. */
  readonly written?: Written<Row>;
}

/** A transaction in progress. Its statements are rejected once its deadline is over, or the transaction. */
export interface OpenTransaction {
  readonly prisma: Prisma.TransactionClient;
  query<Row>(statement: Statement, values: readonly unknown[]): Promise<Row[]>;
}

/** What runs statements and transactions, each until the deadline of its work. */
export interface Engine {
  readonly load: PoolLoad;
  /** See {@link Database.prisma}. */
  readonly prisma: Prisma.TransactionClient;
  /** @throws as {@link Session.query} and {@link Session.write}. */
  run<Row>(work: Work, command: Command<Row>): Promise<Row[]>;
  /**
   * Runs a transaction once.
   * @param onCommit called when the commit has succeeded, even if nobody waits for it any more.
   * @throws as {@link Session.transaction}.
   */
  transact<T>(work: Work, run: (transaction: OpenTransaction) => Promise<T>, onCommit: () => void): Promise<T>;
  /** See {@link Database.canWrite}. */
  canWrite(): Promise<boolean>;
  close(): Promise<void>;
}
