import { LRUCache } from 'lru-cache';

/** Results kept for subscribers that are a little behind others. An event is small, and so are they. */
const MAX_RESULTS = 1000;

/** Results that several subscribers to an event ask for, each computed once. */
export class SharedResults<Result> {
  private readonly results = new LRUCache<string, Promise<Result>>({ max: MAX_RESULTS });
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

  /** @param work what is computed of an event: for the same text, the same. */
  find(event: object, work: string, compute: () => Promise<Result>): Promise<Result> {
    const key = `${this.numberOf(event)} ${work}`;
    let result = this.results.get(key);
    if (!result) {
      result = compute();
      this.results.set(key, result);
    }
    return result;
  }
}
