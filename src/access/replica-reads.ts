import type { Session } from '../database/database';
import type { Replicas } from '../database/replicas/replicas';
import type { RecentWriters } from './recent-writers';

/**
 * Lets queries read from replicas, while every caller still sees its own writes. A replica lags by less than one
 * window, and a caller reads from the primary for one window after its last write, so any change that a replica lacks
 * is newer than the caller's own. Everything but queries stays on the primary.
 */
export class ReplicaReads {
  /** @param writers remembers writers for as long as a replica may lag. */
  constructor(
    private readonly replicas: Replicas,
    private readonly writers: RecentWriters,
  ) {}

  /** Where a query reads. @param primary its session on the primary. */
  session(primary: Session): Session {
    return this.replicas.session(primary, this.writers.has(primary.work.caller));
  }

  noteWrite(caller: string): void | Promise<void> {
    return this.writers.note(caller);
  }
}
