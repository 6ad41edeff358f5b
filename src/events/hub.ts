import type { Change } from '../database/database';

/** A change together with its row: the current row, or for a deletion the deleted row. */
export type ChangeEvent<Row = object> = Change<Row> & { readonly row: Row };

/** Reads the current rows with these ids. Deleted rows are missing. */
export type RowLoader = (ids: readonly bigint[]) => Promise<ReadonlyMap<bigint, object>>;

/** The loader of each topic's rows. */
export type RowLoaders = Readonly<Record<string, RowLoader>>;

/** Whether a subscriber receives an event. */
export type EventFilter = (event: ChangeEvent) => boolean;

/** The error that ends a subscription that falls behind the changes. */
export class TooSlow extends Error {}

/** Maximum number of events queued for one subscriber. */
const MAX_WAITING = 256;
/** Maximum number of changes of one topic that wait until their rows are read. */
const MAX_UNREAD = 10_000;

/**
 * Delivers changes to the subscribers in this process. A row is read once for all subscribers, after the change. So the last
 * event for a row shows the final state of the row, regardless of the order in which the changes arrive.
 */
export class Hub {
  private readonly channels: ReadonlyMap<string, Channel>;

  constructor(loaders: RowLoaders, maxWaiting = MAX_WAITING) {
    this.channels = new Map(
      Object.entries(loaders).map(([topic, load]) => [topic, new Channel(load, maxWaiting)] as const),
    );
  }

  /** Accepts a change from this or another instance. Does nothing without subscribers. */
  readonly notify = (change: Change): void => {
    // Unknown topics are ignored, since another instance may run a version with more topics.
    this.channels.get(change.topic)?.notify(change);
  };

  /** Returns an iterator over all future events that pass the filter. The subscriber unsubscribes by ending the iterator. */
  subscribe(topic: string, filter: EventFilter): AsyncIterableIterator<ChangeEvent> {
    const channel = this.channels.get(topic);
    if (!channel) throw new Error(`unknown topic: ${topic}`);
    return channel.subscribe(filter);
  }

  get subscribers(): number {
    return this.sum('size');
  }

  /** Number of events delivered to subscribers. */
  get delivered(): number {
    return this.sum('delivered');
  }

  /** Number of subscriptions that were ended because the subscriber was too slow. */
  get tooSlow(): number {
    return this.sum('tooSlow');
  }

  private sum(figure: 'size' | 'delivered' | 'tooSlow'): number {
    let sum = 0;
    for (const channel of this.channels.values()) sum += channel[figure];
    return sum;
  }
}

/** The subscribers of one topic. */
class Channel {
  delivered = 0;
  tooSlow = 0;
  private readonly queues = new Map<EventQueue<ChangeEvent>, EventFilter>();
  private unread: Change[] = [];
  private isReading = false;

  constructor(
    private readonly load: RowLoader,
    private readonly maxWaiting: number,
  ) {}

  get size(): number {
    return this.queues.size;
  }

  subscribe(filter: EventFilter): EventQueue<ChangeEvent> {
    const queue = new EventQueue<ChangeEvent>(this.maxWaiting, () => this.queues.delete(queue));
    this.queues.set(queue, filter);
    return queue;
  }

  notify(change: Change): void {
    if (!this.queues.size) return;
    this.unread.push(change);
    if (this.unread.length > MAX_UNREAD) {
      this.tooSlow += this.queues.size;
      this.fail(new TooSlow());
    } else if (!this.isReading) void this.readAll();
  }

  /** Reads the rows of all unread changes, one batch at a time, so that no batch overtakes an earlier batch. */
  private async readAll(): Promise<void> {
    this.isReading = true;
    while (this.unread.length) {
      const changes = this.unread;
      this.unread = [];
      try {
        await this.deliver(changes);
      } catch (error) {
        this.fail(error);
      }
    }
    this.isReading = false;
  }

  private async deliver(changes: readonly Change[]): Promise<void> {
    const ids = new Set(changes.filter(({ kind }) => kind !== 'DELETED').map(({ id }) => id));
    const rows = ids.size ? await this.load([...ids]) : new Map<bigint, object>();
    for (const change of changes) {
      // A missing row has been deleted after this change. The deletion is reported as a separate change.
      const row = change.kind === 'DELETED' ? change.before : rows.get(change.id);
      if (row) this.dispatch({ ...change, row });
    }
  }

  private dispatch(event: ChangeEvent): void {
    for (const [queue, filter] of this.queues) {
      if (!filter(event)) continue;
      if (queue.push(event)) this.delivered += 1;
      else this.tooSlow += 1;
    }
  }

  /** Ends all subscriptions to the topic with an error, since the subscribers have missed events. */
  private fail(error: unknown): void {
    this.unread = [];
    for (const queue of this.queues.keys()) queue.fail(error);
  }
}

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
class EventQueue<T> implements AsyncIterableIterator<T> {
  private readonly waiting: T[] = [];
  private reader: Reader<T> | undefined;
  private isOver = false;
  private failure: { readonly error: unknown } | undefined;

  constructor(
    private readonly most: number,
    /** Called once, when the queue ends. */
    private readonly onOver: (queue: EventQueue<T>) => void,
  ) {}

  /** @returns false if the queue was full. The queue has then ended with {@link TooSlow}. */
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
