import type { Session } from './database';
import { deleteExpiredAnswers } from './idempotency';

export interface CleaningOptions {
  /** Milliseconds of the Unix epoch. */
  now(): number;
  /** Hears why a round was given up; the next one starts anew. */
  onError(error: unknown): void;
  /** Milliseconds between two rounds. */
  readonly every?: number;
  /** How many answers are deleted at a time. */
  readonly batch?: number;
}

/**
 * Deletes expired answers now and then, in batches that are too small to be noticed. Every instance does; they pass over
 * what another is deleting.
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

  /** Ends with the batch that is being deleted. */
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
