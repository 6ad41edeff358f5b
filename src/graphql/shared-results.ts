import { LRUCache } from 'lru-cache';

/** Results kept for subscribers that are a little behind others. An event is small, and so are they. */
const MAX_RESULTS = 1000;

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

/** Results that several subscribers to an event ask for, each computed once; ended once all that asked have left. */
export class SharedResults<Result> {
  private readonly results = new LRUCache<string, Shared<Result>>({ max: MAX_RESULTS });
  private readonly numbers = new WeakMap<object, number>();
  private last = 0;

  /** A number that stands for an object. */
  numberOf(object: object): number {
    let number = this.numbers.get(object);
    if (number === undefined) {
      number = ++this.last;
      this.numbers.set(object, number);
    }
    return number;
  }

  /**
   * @param work what is computed of an event: for the same text, the same.
   * @returns the result, and how a subscriber that leaves ends its part in it: to be called at most once.
   */
  find(event: object, work: string, start: () => Computation<Result>): Computation<Result> {
    const key = `${this.numberOf(event)} ${work}`;
    const shared = this.results.get(key) ?? this.start(key, start());
    shared.waiting += 1;
    const end = () => {
      shared.waiting -= 1;
      if (shared.waiting || shared.isDone) return;
      this.results.delete(key);
      shared.end();
    };
    return { result: shared.result, end };
  }

  private start(key: string, { result, end }: Computation<Result>): Shared<Result> {
    const shared: Shared<Result> = { result, end, waiting: 0, isDone: false };
    const done = () => {
      shared.isDone = true;
    };
    result.then(done, done);
    this.results.set(key, shared);
    return shared;
  }
}
