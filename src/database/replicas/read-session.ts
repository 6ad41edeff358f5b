import type { Change } from '../changes';
import type { Session, Statement, Transaction, Written } from '../database';
import { failureOf } from '../failures';
import type { Work } from '../work/deadline';
import type { Replica } from './replica';

/**
 * Runs the reads of one operation on a single replica, so that successive reads never go back in time. If a
 * statement fails there, but for its time, it and all later ones run on the primary, which is never older and is
 * authoritative. Writes and transactions always go to the primary.
 */
export class ReadSession implements Session {
  /** @param replica `undefined` means the primary. */
  constructor(
    private readonly primary: Session,
    private replica: Replica | undefined | Promise<Replica | undefined>,
    private readonly onFailure: () => void,
  ) {}

  get work(): Work {
    return this.primary.work;
  }

  async query<Row>(statement: Statement, values: readonly unknown[], isShortRead?: boolean): Promise<Row[]> {
    const replica = await this.replica;
    if (replica) {
      try {
        return await replica.query<Row>(this.work, { statement, values, kind: isShortRead ? 'short-read' : 'read' });
      } catch (error) {
        if (failureOf(error) === 'timeout' || this.work.deadline.reason) throw error;
        this.replica = undefined;
        this.onFailure();
      }
    }
    return this.primary.query(statement, values, isShortRead);
  }

  write<Row>(statement: Statement, values: readonly unknown[], written?: Written<Row>): Promise<Row[]> {
    return this.primary.write(statement, values, written);
  }

  transaction<T>(run: (transaction: Transaction) => Promise<T>): Promise<T> {
    return this.primary.transaction(run);
  }

  renewed(): Session {
    return this.primary.renewed();
  }

  changed(change: Change): void {
    this.primary.changed(change);
  }
}
