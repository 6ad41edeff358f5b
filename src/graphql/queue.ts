import { ProblemError } from './errors';

/** Runs one thing at a time, in the order in which they come. */
export class Queue {
  private last: Promise<unknown> = Promise.resolve();

  /** @param maxWaitMs how late its turn may come to each: unless told as late as a transaction gets a connection. */
  constructor(private readonly maxWaitMs = 5_000) {}

  /** @throws ProblemError `SERVICE_UNAVAILABLE` when its turn comes too late, and what `work` throws. */
  run<T>(work: () => Promise<T>): Promise<T> {
    const since = performance.now();
    const turn = this.last.then(() => {
      if (performance.now() - since > this.maxWaitMs) throw tooLate();
      return work();
    });
    this.last = turn.catch(() => undefined);
    return turn;
  }
}

function tooLate(): ProblemError {
  return new ProblemError(
    'SERVICE_UNAVAILABLE',
    'Too many mutations of several fields wait for each other under Idempotency-Keys. Try again shortly.',
  );
}
