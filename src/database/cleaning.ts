import { tryLock } from './advisory-locks';
import type { Database, Transaction } from './database';

/** Deletes at most `limit` expired rows. @returns the number of deleted rows. */
export type DeleteBatch = (transaction: Transaction, limit: number) => Promise<number>;

interface CleaningOptions {
  /** Called when a round fails. The next round starts on schedule. */
  onError(error: unknown): void;
  /** Interval between rounds, in milliseconds. */
  readonly every?: number;
}

/** The number of rows deleted in one transaction. It is small, so that locks are short. */
const BATCH = 500;

/**
 * Periodically deletes expired rows, unless another instance is doing so.
 * @returns a function that stops the deletion after the current batch.
 */
export function cleanPeriodically(
  database: Database,
  deletions: readonly DeleteBatch[],
  { onError, every = 600_000 }: CleaningOptions,
): () => Promise<void> {
  let isStopped = false;
  let round: Promise<void> | undefined;
  const deleteAll = async (deleteBatch: DeleteBatch) => {
    const deleteOnce = async (transaction: Transaction) =>
      (await tryLock(transaction, 'cleaning')) ? deleteBatch(transaction, BATCH) : 0;
    while (!isStopped && (await database.serviceSession().transaction(deleteOnce)) === BATCH);
  };
  const clean = async () => {
    for (const deleteBatch of deletions) await deleteAll(deleteBatch).catch(onError);
  };
  const start = () => {
    round ??= clean().finally(() => {
      round = undefined;
    });
  };
  const timer = setInterval(start, every).unref();
  return async () => {
    isStopped = true;
    clearInterval(timer);
    await round;
  };
}
