import type { Session } from './database';
import { deleteExpiredAnswers } from './idempotency';

export interface CleaningOptions {
  /** Milliseconds of the Unix epoch. */
  now(): number;
  /** Called when a round fails; the next one starts afresh. */
  onError(error: unknown): void;
  /** Interval between rounds, in milliseconds. */
  readonly every?: number;
  /** Number of responses deleted at a time. */
  readonly batch?: number;
}

/**
 * Periodically deletes expired responses, in batches small enough to go unnoticed. Every instance does so; each skips
 * the rows that another one is deleting.
 */
export class ExpiredAnswers {
  private readonly timer: NodeJS.Timeout;
  private round: Promise<void> | undefined;
  private stopped = false;

  constructor(
    private readonly session: Session,
    private readonly options: CleaningOptions,
  ) {
    this.timer = setInterval(() => this.start(), options.every ?? 600_000).unref();
  }

  /** Stops after the current batch. */
  async stop(): Promise<void> {
    this.stopped = true;
    clearInterval(this.timer);
    await this.round;
  }

  private start(): void {
    this.round ??= this.clean()
      .catch((error: unknown) => this.options.onError(error))
      .finally(() => {
        this.round = undefined;
      });
  }

  private async clean(): Promise<void> {
    const { now, batch = 500 } = this.options;
    let deleted = batch;
    while (deleted === batch && !this.stopped)
      deleted = await deleteExpiredAnswers(this.session, new Date(now()), batch);
  }
}
