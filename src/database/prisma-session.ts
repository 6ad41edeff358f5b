import type { Change, ChangeListener } from './changes';
import { retrying } from './connections/retries';
import type { Session, Statement } from './database';
import type { Prisma, PrismaClient } from './generated/client';

/**
 * Runs `work` in a transaction of `client`, and retries it on deadlocks and serialization failures.
 * @param notify receives the changes once they are committed.
 */
export async function transaction<T>(
  client: PrismaClient,
  notify: ChangeListener,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const { result, changes } = await retrying(async () => {
    const changes: Change[] = [];
    const result = await client.$transaction((tx) => work(new TransactionSession(tx, changes)));
    return { result, changes };
  });
  changes.forEach(notify);
  return result;
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
