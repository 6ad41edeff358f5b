import { ProblemError } from '../../errors/problem';

/** Runs one task at a time, first come, first served. */
export class Queue {
  private last: Promise<unknown> = Promise.resolve();

  /** @param maxWaitMs how long a task may wait; by default as long as a transaction may wait for a connection. */
  constructor(private readonly maxWaitMs = 5_000) {}

  /** @throws ProblemError `SERVICE_UNAVAILABLE` if `work` waits too long, and whatever `work` throws. */
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
    'Too many multi-field mutations with an Idempotency-Key are waiting for their turn. Try again shortly.',
  );
}
