import type { Session, Transaction } from '../database/database';
import { tryLock } from '../database/writing';

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
 * Periodically deletes expired responses, in batches small enough to go unnoticed. Every instance does so, unless
 * another one is deleting.
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
    const next = (tx: Transaction) => deleteExpired(tx, new Date(now()), batch);
    while (!this.stopped && (await this.session.transaction(next)) === batch);
  }
}

/** @returns the number of responses deleted. */
async function deleteExpired(transaction: Transaction, now: Date, limit: number): Promise<number> {
  if (!(await tryLock(transaction, 'cleaning'))) return 0;
  const { count } = await transaction.prisma.idempotencyKey.deleteMany({ where: { expiresAt: { lte: now } }, limit });
  return count;
}
