import type { Deadline } from './deadline';
import type { Prisma } from './generated/client';
import type { Visibility } from './visibility';

/** A SQL text and the name of its prepared statement, created by {@link statement}. */
export interface Statement {
  /** Empty if PostgreSQL plans the statement anew for the values of each run. */
  readonly name: string;
  readonly text: string;
}

/** A statement that writes many rows, each as `single` would. Its parameters are arrays, with one value for each row. */
export interface BatchStatement extends Statement {
  readonly single: Statement;
}

/** Publishes changes to the listeners once the transaction that makes them is committed. */
export interface ChangePublisher<Published = Change> {
  /** Publishes a change, within a transaction once it is committed. A change that is rolled back is never published. */
  publish(change: Published): void;
}

/**
 * Called with the rows that a single-statement write has returned, even if the caller has stopped waiting. The statement is a
 * transaction of its own, so it has also written the events of its changes (`recorded-write.ts`).
 */
export type OnWritten<Row> = (rows: readonly Row[], changes: ChangePublisher<RecordedChange>) => void;

/** The caller id of the service's own statements. */
export const SERVICE = '';

/** The caller and the deadline of statements. */
export interface Requester {
  /** The id of the caller, or {@link SERVICE}. Connections are shared fairly among callers. */
  readonly callerId: string;
  /** The client's address, if the caller is an end user. What the caller holds counts for the address too. */
  readonly address?: string;
  readonly deadline: Deadline;
  /** Maximum size in bytes of the rows that one statement may read for a caller's selection. Unlimited by default. */
  readonly maxStatementBytes?: number;
  /** The visible rows of tables whose rows have owners. Rows without an owner by default. */
  readonly visibility?: Visibility;
  /** The id of the request, for the events of its changes; `undefined` for statements of the service itself. */
  readonly requestId?: string;
  /** The id of the key or end user, for the events of its changes; `undefined` for anonymous callers. */
  readonly actor?: string;
}

/**
 * Runs statements, either directly on the database or inside a transaction. Services take a session as their first argument,
 * so the calling code decides which calls share a transaction and a deadline.
 */
export interface Session {
  /** The caller and deadline of the statements. After the deadline, statements are rejected with its `reason`. */
  readonly requester: Requester;
  /**
   * Runs one statement that only reads. Returns `int8` as `bigint`, and `timestamptz` as `Date`.
   * @param isShortRead whether the statement reads only a few rows through an index, and so may run on a shared connection.
   * @throws Ended at the deadline, unless the read already runs on a shared connection; otherwise the driver's error, which
   * {@link failureOf} classifies.
   */
  query<Row>(statement: Statement, values: readonly unknown[], isShortRead?: boolean): Promise<Row[]>;
  /**
   * Runs one statement that writes.
   * @param onWritten publishes the changes that the write makes.
   * @param batch the statement that writes this row together with others, outside of transactions.
   * @throws Ended at the deadline, if nothing was written; OutcomeUnknown if the write may have succeeded; otherwise the
   * driver's error.
   */
  write<Row>(
    statement: Statement,
    values: readonly unknown[],
    onWritten?: OnWritten<Row>,
    batch?: BatchStatement,
  ): Promise<Row[]>;
  /**
   * Runs `work` in one transaction, which is rolled back if `work` throws. If the session is already inside a transaction,
   * `work` becomes part of that transaction. After a serialization failure or a deadlock, `work` runs again, at most three
   * times. So `work` must have no side effects outside the transaction.
   * @throws Ended at the deadline, or OutcomeUnknown if the commit had already been sent.
   */
  transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>;
}

export interface Transaction extends Session, ChangePublisher {
  /** The Prisma models. */
  readonly prisma: Prisma.TransactionClient;
  /** Writes an event. The transaction itself writes the events of the changes that are published through it. */
  record(event: NewEvent): Promise<void>;
}

/**
 * An open database. Statements that run directly on the database belong to no request. Each of these statements has a new
 * deadline.
 */
export interface Database extends Session, ChangePublisher {
  /** Human-readable description: `embedded PostgreSQL 18 in ./data`. */
  readonly description: string;
  /** Listeners to the changes made through this database. */
  readonly listeners: Set<ChangeListener>;
  readonly load: PoolLoad;
  /** The Prisma models, for short statements of the service itself. */
  readonly prisma: Prisma.TransactionClient;
  /** Returns a session with this caller and deadline. */
  sessionFor(requester: Requester): Session;
  /**
   * Whether the database accepts writes. It does not if it is a standby, for example. Rejects if it does not respond.
   */
  canWrite(): Promise<boolean>;
  close(): Promise<void>;
}

/** The number of all connections, of idle connections, and of statements and transactions that wait for a connection. */
export interface PoolLoad {
  readonly total: number;
  readonly idle: number;
  readonly waiting: number;
}

export type ChangeKind = 'CREATED' | 'UPDATED' | 'DELETED';

/** An event of the change feed, to be written in the transaction of the change, after the object is locked. */
export interface NewEvent {
  /** The kind of object that has changed, such as `pet`. */
  readonly topic: string;
  readonly kind: string;
  readonly objectId: string;
  /** The owner of the row, if the rows of its table have owners. Callers that do not see the row do not see the event. */
  readonly owner?: string | null;
}

/** What is known about an event once it is written. */
export interface WrittenEvent {
  readonly id: bigint;
  readonly at: Date;
  readonly requestId: string | null;
}

/** A change to a row, without the new state of the row. Consumers that need the new state read the row. */
export interface Change<Row = object> {
  /** The kind of row that has changed, such as `pet`. Clients subscribe to a topic. */
  readonly topic: string;
  readonly kind: ChangeKind;
  readonly id: bigint;
  /** See {@link NewEvent.owner}. */
  readonly owner?: string | null;
  /**
   * The previous state of the row. After a deletion, it has all fields. After an update, it has only fields that a filter
   * may test and whose previous value is known.
   */
  readonly before?: Partial<Row>;
  /**
   * The event of this change. A transaction writes the event of a change that has none. Published changes have one, except
   * those of instances of the version before.
   */
  readonly event?: WrittenEvent;
}

/** A change whose event is written. */
type RecordedChange = Change & { readonly event: WrittenEvent };

/** Called once for each committed change. Must not throw. */
export type ChangeListener = (change: Change) => void;
