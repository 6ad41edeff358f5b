import type { Change } from '../changes';
import type { Session, Statement } from '../database';
import type { Prisma } from '../generated/client';
import type { Replica } from './replica';

/**
 * Runs the reads of one operation on a single replica, so that successive reads never go back in time. If a statement
 * fails there for any reason, it and all later ones run on the primary, which is never older and is authoritative.
 * Prisma queries and transactions always go to the primary.
 */
export class ReadSession implements Session {
  /** @param replica `undefined` means the primary. */
  constructor(
    private readonly primary: Session,
    private replica: Replica | undefined | Promise<Replica | undefined>,
    private readonly onFailure: () => void,
  ) {}

  get prisma(): Prisma.TransactionClient {
    return this.primary.prisma;
  }

  async query<Row>(statement: Statement, values: readonly unknown[], isShortRead?: boolean): Promise<Row[]> {
    const replica = await this.replica;
    if (replica) {
      try {
        return await replica.query<Row>(statement, values, isShortRead);
      } catch {
        this.replica = undefined;
        this.onFailure();
      }
    }
    return this.primary.query(statement, values, isShortRead);
  }

  transaction<T>(work: (session: Session) => Promise<T>): Promise<T> {
    return this.primary.transaction(work);
  }

  changed(change: Change): void {
    this.primary.changed(change);
  }
}
