import type { PoolLoad, Requester, Statement } from './database';
import type { Prisma } from './generated/client';
import type { EventRow } from './recorded-write';

/** A `short-read` reads only a few rows through an index. It may share a connection with other short reads. */
export type StatementKind = 'short-read' | 'read' | 'write';

/** A statement with its values, to run outside of a transaction. */
export interface BoundStatement<Row> {
  readonly statement: Statement;
  readonly values: readonly unknown[];
  readonly kind: StatementKind;
  /** Called after the write, even if the caller has stopped waiting. */
  readonly onWritten?: (rows: readonly Row[]) => void;
}

/** A transaction in progress. After the transaction has ended, or after its deadline, its statements are rejected. */
export interface OpenTransaction {
  readonly prisma: Prisma.TransactionClient;
  query<Row>(statement: Statement, values: readonly unknown[]): Promise<Row[]>;
}

/** What an engine does at the end of a transaction. */
export interface TransactionEnd {
  /** The last statement of the transaction, which is sent together with the commit; `undefined` if there is none. */
  lastStatement(): Pick<BoundStatement<EventRow>, 'statement' | 'values'> | undefined;
  /**
   * Called when the commit has succeeded, even if the caller has stopped waiting.
   * @param rows the rows of the last statement.
   */
  onCommit(rows: readonly EventRow[]): void;
}

/** Runs statements and transactions, each until its deadline. */
export interface Engine {
  readonly load: PoolLoad;
  /** See {@link Database.prisma}. */
  readonly prisma: Prisma.TransactionClient;
  /** @throws the errors of {@link Session.query} and {@link Session.write}. */
  run<Row>(requester: Requester, statement: BoundStatement<Row>): Promise<Row[]>;
  /** Runs a transaction once. @throws the errors of {@link Session.transaction}. */
  transact<T>(requester: Requester, run: (transaction: OpenTransaction) => Promise<T>, end: TransactionEnd): Promise<T>;
  /** See {@link Database.canWrite}. */
  canWrite(): Promise<boolean>;
  close(): Promise<void>;
}
