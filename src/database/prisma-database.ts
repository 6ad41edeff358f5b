import { BoundedAdapter, type Factory, type Unit } from './bounded-adapter';
import type { Change, ChangeListener } from './changes';
import type { Database, PoolLoad, Session, Statement, Transaction, Written } from './database';
import { Deadline, type Work } from './deadline';
import type { Engine } from './engine';
import { type Prisma, PrismaClient } from './generated/client';
import { retrying } from './retries';

/** The caller of the service's own statements. */
const SERVICE = '';

/** Prisma and prepared statements on the same engine. */
export class PrismaDatabase implements Database {
  readonly listeners = new Set<ChangeListener>();
  readonly prisma: PrismaClient;
  private readonly adapter: BoundedAdapter;

  /** @param requestTimeoutMs how long the service's own statements may take. */
  constructor(
    private readonly engine: Engine,
    factory: Factory,
    readonly description: string,
    private readonly requestTimeoutMs: number,
  ) {
    this.adapter = new BoundedAdapter(factory);
    // Prisma's own limits: ours, of which it knows nothing, end first.
    const limit = 2 * requestTimeoutMs;
    this.prisma = new PrismaClient({
      adapter: this.adapter,
      // The other formats quote the source code, which is read for each error: during an outage, for every request.
      errorFormat: 'minimal',
      transactionOptions: { maxWait: limit, timeout: limit },
    });
  }

  get load(): PoolLoad {
    return this.engine.load;
  }

  get work(): Work {
    return { caller: SERVICE, deadline: new Deadline(this.requestTimeoutMs) };
  }

  sessionFor(work: Work): Session {
    return new WorkSession(this, work);
  }

  renewed(): Session {
    return this.sessionFor(this.work);
  }

  query<Row>(statement: Statement, values: readonly unknown[], isShortRead = false, work = this.work): Promise<Row[]> {
    return this.engine.run(work, { statement, values, kind: isShortRead ? 'short-read' : 'read' });
  }

  write<Row>(
    statement: Statement,
    values: readonly unknown[],
    written?: Written<Row>,
    work = this.work,
  ): Promise<Row[]> {
    return this.engine.run(work, { statement, values, kind: 'write', written });
  }

  async transaction<T>(run: (transaction: Transaction) => Promise<T>, work = this.work): Promise<T> {
    return retrying(work.deadline, () => {
      const changes: Change[] = [];
      const unit: Unit = { ...work };
      const begin = async () => {
        const result = await this.prisma.$transaction((tx) => run(new TransactionSession(unit, tx, changes)));
        // It is committed, whether or not anybody still waits for it.
        for (const change of changes) this.changed(change);
        return result;
      };
      return this.engine.perform(unit, () => this.adapter.transact(unit, begin));
    });
  }

  changed(change: Change): void {
    for (const listener of this.listeners) listener(change);
  }

  canWrite(): Promise<boolean> {
    return this.engine.canWrite();
  }

  async close(): Promise<void> {
    await this.prisma.$disconnect();
    await this.engine.close();
  }
}

/** What one piece of work does outside of transactions. */
class WorkSession implements Session {
  constructor(
    private readonly database: PrismaDatabase,
    readonly work: Work,
  ) {}

  query<Row>(statement: Statement, values: readonly unknown[], isShortRead?: boolean): Promise<Row[]> {
    return this.database.query(statement, values, isShortRead, this.work);
  }

  write<Row>(statement: Statement, values: readonly unknown[], written?: Written<Row>): Promise<Row[]> {
    return this.database.write(statement, values, written, this.work);
  }

  transaction<T>(run: (transaction: Transaction) => Promise<T>): Promise<T> {
    return this.database.transaction(run, this.work);
  }

  renewed(): Session {
    return new WorkSession(this.database, { ...this.work, deadline: new Deadline(this.work.deadline.ms) });
  }

  changed(change: Change): void {
    this.database.changed(change);
  }
}

/** A session inside an open transaction. A nested one is a savepoint: for Prisma's own, PGlite's adapter lacks these. */
class TransactionSession implements Transaction {
  private savepoints = 0;

  constructor(
    readonly work: Work,
    readonly prisma: Prisma.TransactionClient,
    /** Changes to publish after the commit; those that are rolled back are removed. */
    private readonly changes: Change[],
  ) {}

  query<Row>(statement: Statement, values: readonly unknown[]): Promise<Row[]> {
    return this.prisma.$queryRawUnsafe<Row[]>(statement.text, ...values);
  }

  async write<Row>(statement: Statement, values: readonly unknown[], written?: Written<Row>): Promise<Row[]> {
    const rows = await this.query<Row>(statement, values);
    written?.(rows);
    return rows;
  }

  renewed(): Session {
    return this;
  }

  changed(change: Change): void {
    this.changes.push(change);
  }

  async transaction<T>(run: (transaction: Transaction) => Promise<T>): Promise<T> {
    const name = `nested_${++this.savepoints}`;
    const before = this.changes.length;
    await this.prisma.$executeRawUnsafe(`savepoint ${name}`);
    try {
      const result = await run(this);
      await this.prisma.$executeRawUnsafe(`release savepoint ${name}`);
      return result;
    } catch (error) {
      this.changes.length = before;
      await this.prisma.$executeRawUnsafe(`rollback to savepoint ${name}`);
      throw error;
    }
  }
}
