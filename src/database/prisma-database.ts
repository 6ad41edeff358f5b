import { type Change, ChangeListeners } from './changes';
import { retrying } from './connections/retries';
import type { Database, Session, Statement } from './database';
import type { Prisma, PrismaClient } from './generated/client';

/** What PostgreSQL and the embedded database have in common. */
export abstract class PrismaDatabase implements Database {
  readonly listeners = new ChangeListeners();

  protected constructor(
    readonly prisma: PrismaClient,
    readonly description: string,
  ) {}

  abstract query<Row>(statement: Statement, values: readonly unknown[], isShortRead?: boolean): Promise<Row[]>;
  abstract ping(): Promise<void>;
  abstract close(): Promise<void>;

  async transaction<T>(work: (session: Session) => Promise<T>): Promise<T> {
    const { result, changes } = await retrying(async () => {
      const changes: Change[] = [];
      const result = await this.prisma.$transaction((tx) => work(new TransactionSession(tx, changes)));
      return { result, changes };
    });
    for (const change of changes) this.changed(change);
    return result;
  }

  changed(change: Change): void {
    this.listeners.notify(change);
  }
}

/** A session inside an open transaction. A nested one is a savepoint: for Prisma's own, PGlite's adapter lacks these. */
class TransactionSession implements Session {
  private savepoints = 0;

  constructor(
    readonly prisma: Prisma.TransactionClient,
    /** Changes to publish after the commit; those that are rolled back are removed. */
    private readonly changes: Change[],
  ) {}

  query<Row>(statement: Statement, values: readonly unknown[]): Promise<Row[]> {
    return this.prisma.$queryRawUnsafe<Row[]>(statement.text, ...values);
  }

  changed(change: Change): void {
    this.changes.push(change);
  }

  async transaction<T>(work: (session: Session) => Promise<T>): Promise<T> {
    const name = `nested_${++this.savepoints}`;
    const before = this.changes.length;
    await this.prisma.$executeRawUnsafe(`savepoint ${name}`);
    try {
      const result = await work(this);
      await this.prisma.$executeRawUnsafe(`release savepoint ${name}`);
      return result;
    } catch (error) {
      this.changes.length = before;
      await this.prisma.$executeRawUnsafe(`rollback to savepoint ${name}`);
      throw error;
    }
  }
}
