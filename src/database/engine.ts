import type { Unit } from './bounded-adapter';
import type { PoolLoad, Statement, Written } from './database';
import type { Work } from './deadline';

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

/** What runs statements and transactions, each until the deadline of its work: a server, or PostgreSQL in this process. */
export interface Engine {
  readonly load: PoolLoad;
  /** @throws as {@link Session.query} and {@link Session.write}. */
  run<Row>(work: Work, command: Command<Row>): Promise<Row[]>;
  /** Runs a transaction once. @param run begins it, and settles when it is over. @throws as {@link Session.transaction}. */
  perform<T>(unit: Unit, run: () => Promise<T>): Promise<T>;
  /** See {@link Database.canWrite}. */
  canWrite(): Promise<boolean>;
  close(): Promise<void>;
}
