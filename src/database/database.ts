import type { Deadline } from './deadline';
import type { Prisma } from './generated/client';
import type { Visibility } from './visibility';

/** A SQL text and the name of its prepared statement, created by {@link statement}. */
export interface Statement {
  /** Empty if PostgreSQL plans the statement anew for the values of each run. */
  readonly name: string;
  readonly text: string;
}

/** A statement that writes. Its `batch` writes several rows together. */
export interface WriteStatement extends Statement {
  /**
   * A statement that writes many rows, in the same way as this statement writes one row. Each parameter is an array with one
   * value for each row. The result has the rows that this statement would return, each with its `ordinal`: a bigint, the
   * position in the arrays, from 1. The batch may leave out rows; this statement then writes them. Outside of transactions, the
   * batch is used for rows that are written at the same time.
   */
  readonly batch?: Statement;
  /** The changes that the statement records in the change feed. */
  readonly changes?: readonly CheckedChange[];
}

/** Returns the changes that a write has made and recorded. Must not throw. */
export type ChangesOf<Row> = (rows: readonly Row[]) => readonly RecordedChange[];

/** The caller id of the service's own statements. */
export const SERVICE = '';

/** The caller and the deadline of statements. */
export interface Requester {
  /** The id of the caller, or {@link SERVICE}. Connections are shared fairly among callers. */
  readonly callerId: string;
  /** The client's address, if the caller is an end user. Resources that the caller holds count for the address, too. */
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
   * @param changesOf returns the changes to publish. They are published once they are committed, even if the caller has
   * stopped waiting.
   * @throws Ended at the deadline, if nothing was written; OutcomeUnknown if the write may have succeeded; otherwise the
   * driver's error.
   */
  write<Row>(statement: WriteStatement, values: readonly unknown[], changesOf?: ChangesOf<Row>): Promise<Row[]>;
  /**
   * Runs `work` in one transaction, which is rolled back if `work` throws. If the session is already inside a transaction,
   * `work` becomes part of that transaction. After a serialization failure or a deadlock, `work` runs again, at most three
   * times. So `work` must have no side effects outside the transaction.
   * @throws Ended at the deadline, or OutcomeUnknown if the commit had already been sent.
   */
  transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>;
}

export interface Transaction extends Session {
  /** The Prisma models. */
  readonly prisma: Prisma.TransactionClient;
  /** Publishes a change once the transaction is committed. A change that is rolled back is never published. */
  publishOnCommit(change: Change): void;
  /** Writes an entry of the change feed. The transaction itself writes the entries of the changes that it publishes. */
  record(entry: NewFeedEntry): Promise<void>;
}

/**
 * An open database. It is not a session: a session has one deadline, and sees only the rows of its caller. So each request, and
 * each unit of the service's own work, needs a separate session.
 */
export interface Database {
  /** Human-readable description: `embedded PostgreSQL 18 in ./data`. */
  readonly description: string;
  /** Listeners to the changes made through this database. */
  readonly listeners: Set<ChangeListener>;
  /** Called before a change is written or published. By default, all changes are accepted. */
  checkChange: ChangeCheck;
  readonly load: PoolLoad;
  /** The Prisma models, for short statements of the service itself. */
  readonly prisma: Prisma.TransactionClient;
  /** Returns a session with this caller and deadline. */
  sessionFor(requester: Requester): Session;
  /**
   * Returns a session for work that belongs to no caller. It sees all rows.
   * @param limitMs how long the work may take, from now on; by default as long as a request.
   */
  serviceSession(limitMs?: number): Session;
  /**
   * Whether the database accepts writes. A standby, for example, does not. The promise rejects if the database does not
   * respond.
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

/** An entry of the change feed, to be written in the transaction of the change, after the object is locked. */
export interface NewFeedEntry {
  /** The kind of object that has changed, such as `pet`. */
  readonly topic: string;
  readonly kind: string;
  readonly objectId: string;
  /** The owner of the row, if the rows of its table have owners. Callers that do not see the row do not see the entry. */
  readonly owner?: string | null;
}

/** An entry of the change feed: the values that are known once the entry is written to the table `events`. */
export interface FeedEntry {
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
  /** See {@link NewFeedEntry.owner}. */
  readonly owner?: string | null;
  /**
   * The previous state of the row. After a deletion, it has all fields. After an update, it has only fields that a filter
   * may test and whose previous value is known.
   */
  readonly before?: Partial<Row>;
  /**
   * The entry of this change in the change feed. A transaction writes the entry of a change that has no entry. Published changes
   * have an entry, except changes from instances of the previous version.
   */
  readonly entry?: FeedEntry;
}

/** A change whose entry in the change feed is written. */
export type RecordedChange = Change & { readonly entry: FeedEntry };

/** Called once for each committed change. Must not throw. */
export type ChangeListener = (change: Change) => void;

/** What a {@link ChangeCheck} must know about a change. `owner` is `undefined` only if the change names no owner at all. */
export interface CheckedChange {
  readonly topic: string;
  readonly owner?: unknown;
}

/** @throws Error if the change must not be published. Nothing is then written. */
export type ChangeCheck = (change: CheckedChange) => void;
