import { BatchedWrites } from './batched-writes';
import {
  type Change,
  type ChangeCheck,
  type ChangeListener,
  type ChangesOf,
  type CheckedChange,
  type Database,
  type NewFeedEntry,
  type PoolLoad,
  type Requester,
  SERVICE,
  type Session,
  type Statement,
  type Transaction,
  type WriteStatement,
} from './database';
import { Deadline } from './deadline';
import type { Engine, OpenTransaction, TransactionEnd } from './engine';
import type { Prisma } from './generated/client';
import { type EventRow, eventsStatement } from './recorded-write';
import { retrying } from './retries';
import { ALL_ROWS } from './visibility';

/** Creates sessions that run statements on an engine, and notifies the listeners of changes. */
export class GatewayDatabase implements Database {
  readonly listeners = new Set<ChangeListener>();
  checkChange: ChangeCheck = () => undefined;
  readonly prisma: Prisma.TransactionClient;
  private readonly batches = new Map<WriteStatement, BatchedWrites>();

  /** @param bounds `requestTimeoutMs` is how long the service's own work, and batches of writes, may take. */
  constructor(
    private readonly engine: Engine,
    readonly description: string,
    private readonly bounds: { readonly requestTimeoutMs: number; readonly queue: number },
  ) {
    this.prisma = engine.prisma;
  }

  get load(): PoolLoad {
    const { total, idle, waiting } = this.engine.load;
    return { total, idle, waiting: [...this.batches.values()].reduce((sum, writes) => sum + writes.waiting, waiting) };
  }

  sessionFor(requester: Requester): Session {
    return new RequesterSession(this, requester);
  }

  serviceSession(limitMs = this.bounds.requestTimeoutMs): Session {
    const requester = { callerId: SERVICE, deadline: new Deadline(limitMs), visibility: ALL_ROWS };
    return new RequesterSession(this, requester);
  }

  query<Row>(
    statement: Statement,
    values: readonly unknown[],
    isShortRead: boolean,
    requester: Requester,
  ): Promise<Row[]> {
    return this.engine.run(requester, { statement, values, kind: isShortRead ? 'short-read' : 'read' });
  }

  write<Row>(
    statement: WriteStatement,
    values: readonly unknown[],
    changesOf: ChangesOf<Row> | undefined,
    requester: Requester,
  ): Promise<Row[]> {
    for (const change of statement.changes ?? []) this.checkChange(change);
    const onWritten =
      changesOf &&
      ((rows: readonly Row[]) => {
        for (const change of changesOf(rows)) this.notifyListeners(change);
      });
    const { batch } = statement;
    if (batch) return this.batchedWrites(statement, batch).write(requester, values, onWritten);
    return this.engine.run(requester, { statement, values, kind: 'write', onWritten });
  }

  transaction<T>(run: (transaction: Transaction) => Promise<T>, requester: Requester): Promise<T> {
    return retrying(requester.deadline, () => {
      const changes = new TransactionChanges(requester, this);
      return this.engine.transact(requester, (open) => run(new TransactionSession(requester, open, changes)), changes);
    });
  }

  notifyListeners(change: Change): void {
    for (const listener of this.listeners) listener(change);
  }

  canWrite(): Promise<boolean> {
    return this.engine.canWrite();
  }

  close(): Promise<void> {
    return this.engine.close();
  }

  private batchedWrites(statement: WriteStatement, batch: Statement): BatchedWrites {
    let writes = this.batches.get(statement);
    if (!writes) {
      const { queue, requestTimeoutMs } = this.bounds;
      writes = new BatchedWrites(this.engine, statement, batch, queue, requestTimeoutMs);
      this.batches.set(statement, writes);
    }
    return writes;
  }
}

/** A session outside of transactions, with one caller and deadline. */
class RequesterSession implements Session {
  constructor(
    private readonly database: GatewayDatabase,
    readonly requester: Requester,
  ) {}

  query<Row>(statement: Statement, values: readonly unknown[], isShortRead = false): Promise<Row[]> {
    return this.database.query(statement, values, isShortRead, this.requester);
  }

  write<Row>(statement: WriteStatement, values: readonly unknown[], changesOf?: ChangesOf<Row>): Promise<Row[]> {
    return this.database.write(statement, values, changesOf, this.requester);
  }

  transaction<T>(run: (transaction: Transaction) => Promise<T>): Promise<T> {
    return this.database.transaction(run, this.requester);
  }
}

/** A session inside an open transaction. */
class TransactionSession implements Transaction {
  constructor(
    readonly requester: Requester,
    private readonly open: OpenTransaction,
    private readonly changes: TransactionChanges,
  ) {}

  get prisma(): Prisma.TransactionClient {
    return this.open.prisma;
  }

  query<Row>(statement: Statement, values: readonly unknown[]): Promise<Row[]> {
    return this.open.query<Row>(statement, values);
  }

  async write<Row>(statement: WriteStatement, values: readonly unknown[], changesOf?: ChangesOf<Row>): Promise<Row[]> {
    for (const change of statement.changes ?? []) this.changes.check(change);
    const rows = await this.query<Row>(statement, values);
    for (const change of changesOf?.(rows) ?? []) this.changes.add(change);
    return rows;
  }

  publishOnCommit(change: Change): void {
    this.changes.check(change);
    this.changes.add(change);
  }

  async record(entry: NewFeedEntry): Promise<void> {
    this.changes.check(entry);
    const { statement, values } = eventsStatement(this.requester, [entry]);
    await this.query(statement, values);
  }

  transaction<T>(run: (transaction: Transaction) => Promise<T>): Promise<T> {
    return run(this);
  }
}

/**
 * The changes of a transaction. At its end, changes without an entry in the change feed are recorded, and all changes are
 * published.
 */
class TransactionChanges implements TransactionEnd {
  private readonly recorded: Change[] = [];
  private readonly unrecorded: Change[] = [];

  constructor(
    private readonly requester: Requester,
    private readonly database: GatewayDatabase,
  ) {}

  /** @throws the errors of {@link ChangeCheck}. */
  check(change: CheckedChange): void {
    this.database.checkChange(change);
  }

  add(change: Change): void {
    (change.entry ? this.recorded : this.unrecorded).push(change);
  }

  lastStatement() {
    if (!this.unrecorded.length) return undefined;
    const entries = this.unrecorded.map(({ id, ...change }) => ({ ...change, objectId: String(id) }));
    return eventsStatement(this.requester, entries);
  }

  onCommit(rows: readonly EventRow[]): void {
    for (const change of this.recorded) this.database.notifyListeners(change);
    const { requestId = null } = this.requester;
    const sorted = rows.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    for (const [i, { id, at }] of sorted.entries()) {
      const change = this.unrecorded[i];
      if (change) this.database.notifyListeners({ ...change, entry: { id, at, requestId } });
    }
  }
}
