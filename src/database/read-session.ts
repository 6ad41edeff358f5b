import type { Change } from './changes';
import type { Session, Sharing, Statement } from './database';
import type { Prisma } from './generated/client';
import type { Replica } from './replica';

/**
 * Where the reads of one operation run: its statements on one replica, so that what they see does not go back in time.
 * When one fails there, whatever the reason, it and those that follow run on the primary, which is never older and has the
 * last word. Prisma and transactions are on the primary at once.
 */
export class ReadSession implements Session {
  /** @param replica `undefined` is the primary. */
  constructor(
    private readonly primary: Session,
    private replica: Replica | undefined | Promise<Replica | undefined>,
    private readonly onFailure: () => void,
  ) {}

  get prisma(): Prisma.TransactionClient {
    return this.primary.prisma;
  }

  async query<Row>(statement: Statement, values: readonly unknown[], sharing?: Sharing): Promise<Row[]> {
    const replica = await this.replica;
    if (replica) {
      try {
        return await replica.query<Row>(statement, values, sharing);
      } catch {
        this.replica = undefined;
        this.onFailure();
      }
    }
    return this.primary.query(statement, values, sharing);
  }

  transaction<T>(work: (session: Session) => Promise<T>): Promise<T> {
    return this.primary.transaction(work);
  }

  changed(change: Change): void {
    this.primary.changed(change);
  }
}
