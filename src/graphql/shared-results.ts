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
 * Computes the answer to an event once for all subscribers that need the same answer, and cancels the computation when all of
 * them have left. Results are kept as long as the event, that is, until the last subscriber has read it.
 */
export class SharedResults<Result> {
  private readonly results = new WeakMap<object, Map<string, Shared<Result>>>();

  /**
   * @param work identifies the computation among those of the event.
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
