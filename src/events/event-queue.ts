/** The error that ends a subscription that falls behind the changes. */
export class TooSlow extends Error {}

interface Reader<T> {
  resolve(result: IteratorResult<T, undefined>): void;
  reject(error: unknown): void;
}

const OVER: IteratorResult<never, undefined> = { value: undefined, done: true };

/**
 * The event queue of one subscriber, and the iterator that the subscriber reads from. At most `most` values are queued. If
 * the subscriber falls further behind, the queue ends with {@link TooSlow}, which bounds memory and reports the loss. The
 * class is not a generator, since a generator that waits for its next value cannot be ended.
 */
export class EventQueue<T> implements AsyncIterableIterator<T> {
  private readonly waiting: T[] = [];
  private reader: Reader<T> | undefined;
  private isOver = false;
  private failure: { readonly error: unknown } | undefined;

  constructor(
    private readonly most: number,
    /** Called once, when the queue ends. */
    private readonly onOver: (queue: EventQueue<T>) => void,
  ) {}

  /** @returns false if the queue was full. It has then ended with {@link TooSlow}. */
  push(value: T): boolean {
    if (this.reader) this.takeReader()?.resolve({ value, done: false });
    else if (this.waiting.length < this.most) this.waiting.push(value);
    else {
      this.fail(new TooSlow());
      return false;
    }
    return true;
  }

  /** Ends the queue with an error, and drops queued values. */
  fail(error: unknown): void {
    if (this.isOver) return;
    this.finish();
    const reader = this.takeReader();
    if (reader) reader.reject(error);
    else this.failure = { error };
  }

  async next(): Promise<IteratorResult<T, undefined>> {
    const value = this.waiting.shift();
    if (value !== undefined) return { value, done: false };
    const { failure } = this;
    this.failure = undefined;
    if (failure) throw failure.error;
    if (this.isOver) return OVER;
    return new Promise((resolve, reject) => {
      this.reader = { resolve, reject };
    });
  }

  async return(): Promise<IteratorResult<T, undefined>> {
    this.finish();
    this.takeReader()?.resolve(OVER);
    return OVER;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  private finish(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.waiting.length = 0;
    this.onOver(this);
  }

  private takeReader(): Reader<T> | undefined {
    const { reader } = this;
    this.reader = undefined;
    return reader;
  }
}
