/** Work on a result, which may be ended before there is one. */
export interface Computation<Result> {
  readonly result: Promise<Result>;
  end(): void;
}

/** The computation, and who still waits for its result. */
interface Shared<Result> extends Computation<Result> {
  waiting: number;
  isDone: boolean;
}

/**
 * Results that several subscribers to an event ask for, each computed once; ended once all that asked have left. They are kept
 * as long as the event, which is as long as a subscriber has not read it.
 */
export class SharedResults<Result> {
  private readonly results = new WeakMap<object, Map<string, Shared<Result>>>();

  /**
   * @param work what is computed of an event: for the same text, the same.
   * @returns the result, and how a subscriber that leaves ends its part in it: to be called at most once.
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
