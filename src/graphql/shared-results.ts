/** A computation that may be cancelled. */
export interface Computation<Result> {
  readonly result: Promise<Result>;
  end(): void;
}

/** A computation, and the number of subscribers that wait for its result. */
interface Shared<Result> extends Computation<Result> {
  waiting: number;
  isDone: boolean;
}

/**
 * Computes the response to an event once for all subscribers that need the same response. The computation is cancelled when
 * all these subscribers have left. A result is kept as long as the event object, which is freed when the last subscriber has
 * read it.
 */
export class SharedResults<Result> {
  private readonly results = new WeakMap<object, Map<string, Shared<Result>>>();

  /**
   * @param work identifies the computation among all computations for the event.
   * @returns the result, and a function to be called at most once when the subscriber leaves.
   */
  find(event: object, work: string, start: () => Computation<Result>): Computation<Result> {
    const results = this.results.get(event) ?? new Map<string, Shared<Result>>();
    this.results.set(event, results);
    const shared = results.get(work) ?? started(start());
    results.set(work, shared);
    shared.waiting += 1;
    const end = () => {
      shared.waiting -= 1;
      if (shared.waiting || shared.isDone) return;
      results.delete(work);
      shared.end();
    };
    return { result: shared.result, end };
  }
}

function started<Result>({ result, end }: Computation<Result>): Shared<Result> {
  const shared: Shared<Result> = { result, end, waiting: 0, isDone: false };
  const done = () => {
    shared.isDone = true;
  };
  result.then(done, done);
  return shared;
}
