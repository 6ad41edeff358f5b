import { BatchedWrites } from './batched-writes';
import {
  type BatchStatement,
  type Change,
  type ChangeListener,
  type Database,
  type NewEvent,
  type OnWritten,
  type PoolLoad,
  type Requester,
  SERVICE,
  type Session,
  type Statement,
  type Transaction,
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
  readonly prisma: Prisma.TransactionClient;
  private readonly batches = new Map<BatchStatement, BatchedWrites>();

  /** @param bounds `requestTimeoutMs` is how long the service's own statements, and batches of writes, may take. */
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

  get requester(): Requester {
    return { callerId: SERVICE, deadline: new Deadline(this.bounds.requestTimeoutMs), visibility: ALL_ROWS };
  }

  sessionFor(requester: Requester): Session {
    return new RequesterSession(this, requester);
  }

  query<Row>(
    statement: Statement,
    values: readonly unknown[],
    isShortRead = false,
    requester = this.requester,
  ): Promise<Row[]> {
    return this.engine.run(requester, { statement, values, kind: isShortRead ? 'short-read' : 'read' });
  }

  write<Row>(
    statement: Statement,
    values: readonly unknown[],
    onWritten?: OnWritten<Row>,
    batch?: BatchStatement,
    requester = this.requester,
  ): Promise<Row[]> {
    const publish = onWritten && ((rows: readonly Row[]) => onWritten(rows, this));
    if (batch) return this.batched(batch).write(requester, values, publish);
    return this.engine.run(requester, { statement, values, kind: 'write', onWritten: publish });
  }

  transaction<T>(run: (transaction: Transaction) => Promise<T>, requester = this.requester): Promise<T> {
    return retrying(requester.deadline, () => {
      const events = new TransactionEvents(requester, (change) => this.publish(change));
      return this.engine.transact(requester, (open) => run(new TransactionSession(requester, open, events)), events);
    });
  }

  private batched(statement: BatchStatement): BatchedWrites {
    let writes = this.batches.get(statement);
    if (!writes) {
      writes = new BatchedWrites(this.engine, statement, this.bounds.queue, this.bounds.requestTimeoutMs);
      this.batches.set(statement, writes);
    }
    return writes;
  }

  publish(change: Change): void {
    for (const listener of this.listeners) listener(change);
  }

  canWrite(): Promise<boolean> {
    return this.engine.canWrite();
  }

  close(): Promise<void> {
    return this.engine.close();
  }
}

/** A session outside of transactions, with one caller and deadline. */
class RequesterSession implements Session {
  constructor(
    private readonly database: GatewayDatabase,
    readonly requester: Requester,
  ) {}

  query<Row>(statement: Statement, values: readonly unknown[], isShortRead?: boolean): Promise<Row[]> {
    return this.database.query(statement, values, isShortRead, this.requester);
  }

  write<Row>(
    statement: Statement,
    values: readonly unknown[],
    onWritten?: OnWritten<Row>,
    batch?: BatchStatement,
  ): Promise<Row[]> {
    return this.database.write(statement, values, onWritten, batch, this.requester);
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
    private readonly events: TransactionEvents,
  ) {}

  get prisma(): Prisma.TransactionClient {
    return this.open.prisma;
  }

  query<Row>(statement: Statement, values: readonly unknown[]): Promise<Row[]> {
    return this.open.query<Row>(statement, values);
  }

  async write<Row>(statement: Statement, values: readonly unknown[], onWritten?: OnWritten<Row>): Promise<Row[]> {
    const rows = await this.query<Row>(statement, values);
    onWritten?.(rows, this);
    return rows;
  }

  publish(change: Change): void {
    this.events.add(change);
  }

  async record(event: NewEvent): Promise<void> {
    const { statement, values } = eventsStatement(this.requester, [event]);
    await this.query(statement, values);
  }

  transaction<T>(run: (transaction: Transaction) => Promise<T>): Promise<T> {
    return run(this);
  }
}

/** The events of a transaction, which are written at its end, and its changes, which are published after its commit. */
class TransactionEvents implements TransactionEnd {
  /** Changes whose events are written. */
  private readonly written: Change[] = [];
  private readonly unwritten: Change[] = [];

  constructor(
    private readonly requester: Requester,
    private readonly publish: ChangeListener,
  ) {}

  add(change: Change): void {
    (change.event ? this.written : this.unwritten).push(change);
  }

  lastStatement() {
    if (!this.unwritten.length) return undefined;
    const events = this.unwritten.map(({ id, ...change }) => ({ ...change, objectId: String(id) }));
    return eventsStatement(this.requester, events);
  }

  onCommit(rows: readonly EventRow[]): void {
    for (const change of this.written) this.publish(change);
    const { requestId = null } = this.requester;
    const sorted = rows.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    for (const [i, { id, at }] of sorted.entries()) {
      const change = this.unwritten[i];
      if (change) this.publish({ ...change, event: { id, at, requestId } });
    }
  }
}
