import { LRUCache } from 'lru-cache';
import type { Requester } from '../database/database';
import { batchStartedAt } from '../database/iteration-end';
import { ProblemError } from '../errors/errors';

/** A counted operation of at most this estimated cost never waits. */
const CHEAP = 2_000;
/**
 * Maximum total estimated cost of one caller's running expensive operations. A more expensive operation starts only
 * when the caller runs no other expensive operation.
 */
const MAX_RUNNING = 30_000;
/**
 * While the expensive operations that run for all callers reach this total estimated cost, no further operation starts. Otherwise
 * results that arrive at the same time could block the event loop.
 */
const MAX_RUNNING_IN_TOTAL = 60_000;
/**
 * Estimated cost per second, and in a burst, of the work that one caller causes without using quota: free operations, and
 * events of its subscriptions.
 */
const UNCOUNTED_PER_SECOND = 10_000;
/** A free operation of at most this estimated cost does not wait, as long as the caller's allowance is not used up. */
const CHEAP_FREE = 100;
/** Maximum total estimated cost of the uncounted work that starts in one iteration of the event loop. */
const MAX_UNCOUNTED_AT_ONCE = 250;
/** Interval at which uncounted work that waits for its caller's allowance is tried again, in milliseconds. */
const RETRY_MS = 20;
/** Maximum number of callers' allowances in memory. An evicted caller starts with a full allowance again. */
const MAX_CALLERS = 10_000;
/**
 * An event loop iteration that starts or ends an operation counts as long if it takes more than this many milliseconds. After
 * a long iteration, the next operation starts only after an equally long pause. Large responses therefore leave the event loop
 * time for other requests. New connections need it most: Node accepts one in each iteration.
 */
const MAX_ITERATION_MS = 10;
/**
 * After the two iterations that read a large document and analyse its operation, the pause is this many times as long as both,
 * since the operation also takes time in later iterations.
 */
const PAUSE_AFTER_LARGE_DOCUMENT = 2;

/** One instance for all operations, since a stack trace is expensive under a flood. */
const TOO_MANY_WAITING = new ProblemError(
  'RATE_LIMITED',
  'Too many expensive operations of this caller are waiting. Try again in 1 second.',
);

/** Ends the counting of a running operation. To be called when the operation is done. */
export type Release = () => void;

interface OperationQueueOptions {
  /** The error for an operation of this caller that has waited and would start now. */
  rejectionOf(requester: Requester): Error | undefined;
  /** Maximum number of operations that wait, of all callers together. */
  readonly mostWaiting: number;
}

/** Each caller has a queue for each kind of work. */
type Kind = 'counted' | 'document' | 'free' | 'event';

interface Waiting {
  readonly cost: number;
  /** Whether the work is no longer needed. The wait then ends without a start. */
  isUnneeded(): boolean;
  /** Ends the wait: starts the operation, or rejects it. */
  start(): void;
}

/** The cost of the operations of one kind that one caller runs, and its waiting operations. */
interface CallerQueue {
  running: number;
  readonly waiting: Waiting[];
  /** Limits uncounted work; `undefined` for counted operations and documents. */
  readonly allowance: Allowance | undefined;
}

/**
 * Keeps one caller's expensive operations from blocking the event loop, and from delaying other callers. Each caller has FIFO
 * queues. A counted operation starts if the caller's running operations, and all running operations, stay within limits on
 * estimated cost. Uncounted work starts if the caller's {@link Allowance} is not used up. Each iteration of the event loop
 * starts or rejects at most one expensive operation, or starts some uncounted work, round-robin over all callers. Other
 * requests are served in between.
 */
export class OperationQueue {
  /** The queues with running or waiting operations, by kind and caller, in round-robin order. */
  private readonly queues = new Map<string, CallerQueue>();
  private readonly allowances = new LRUCache<string, Allowance>({
    max: MAX_CALLERS,
    memoMethod: () => new Allowance(),
  });
  /** Total estimated cost of the running counted operations. */
  private running = 0;
  /** Total number of waiting operations and documents, without events. */
  private waiting = 0;
  /** The cost that has started in this iteration of the event loop; `Infinity` if nothing else may start in this iteration. */
  private startedNow = 0;
  /** Whether this iteration of the event loop reads a large document. */
  private readsLargeDocument = false;
  /** Whether a pause after a long iteration is in progress. */
  private isPaused = false;
  private retry: NodeJS.Timeout | undefined;

  constructor(private readonly options: Partial<OperationQueueOptions> = {}) {}

  /**
   * Waits until a counted operation may start.
   * @param cost the estimated cost of the operation.
   * @returns the function to call when the operation is done; a promise of this function if the operation must wait.
   * @throws Ended if the deadline ends first; ProblemError `RATE_LIMITED` if too many operations of the caller wait; the error
   * of `rejectionOf`.
   */
  enterCounted(requester: Requester, cost: number): Release | Promise<Release> {
    return cost <= CHEAP ? NOTHING_TO_RELEASE : this.enterBounded('counted', requester, cost);
  }

  /** Like {@link enterCounted}, for an operation that uses no quota. */
  enterFree(requester: Requester, cost: number): Release | Promise<Release> {
    const allowance = this.allowances.memo(requester.callerId);
    if (cost > CHEAP_FREE || !allowance.isLeft) return this.enterBounded('free', requester, cost, allowance);
    allowance.spend(cost);
    return NOTHING_TO_RELEASE;
  }

  /**
   * Waits until the response to an event may be computed, or a stream may continue. Both share the allowance of free operations.
   * @returns a promise if the computation must wait. Its function does nothing, and need not be called.
   * @throws Ended if the deadline ends first; the error of `rejectionOf`.
   */
  enterEvent(requester: Requester, cost: number): Release | Promise<Release> {
    return this.startOrWait('event', requester, cost, this.allowances.memo(requester.callerId));
  }

  /**
   * Waits until a document may be parsed and validated. Both block the event loop, so documents wait in a queue.
   * @param isKnown whether another request has read the document meanwhile.
   * @throws the errors of {@link enterCounted}.
   */
  enterDocument(requester: Requester, isKnown: () => boolean): Release | Promise<Release> {
    return this.enterBounded('document', requester, 0, undefined, isKnown);
  }

  /** Lengthens the pause after this document. Called after {@link enterDocument}, before a large document is parsed. */
  expectLargeDocument(): void {
    this.readsLargeDocument = true;
  }

  /** Limits the number of waiting operations. A caller may use as many places as are still free, and at least one. */
  private enterBounded(
    kind: Kind,
    requester: Requester,
    cost: number,
    allowance?: Allowance,
    isUnneeded?: () => boolean,
  ): Release | Promise<Release> {
    const { mostWaiting = Infinity } = this.options;
    const most = Math.max(1, mostWaiting - this.waiting);
    const entered = this.startOrWait(kind, requester, cost, allowance, most, isUnneeded);
    if (entered instanceof Promise) {
      this.waiting++;
      const leave = () => this.waiting--;
      entered.then(leave, leave);
    }
    return entered;
  }

  private startOrWait(
    kind: Kind,
    requester: Requester,
    cost: number,
    allowance?: Allowance,
    mostWaiting = Infinity,
    isUnneeded = () => false,
  ): Release | Promise<Release> {
    const key = `${kind} ${requester.callerId}`;
    const queue = this.queues.get(key) ?? { running: 0, waiting: [], allowance };
    if (!queue.waiting.length && this.mayStart(queue, cost)) return this.start(key, queue, cost);
    if (queue.waiting.length >= mostWaiting) throw TOO_MANY_WAITING;
    this.queues.set(key, queue);
    return this.wait(requester, key, queue, cost, isUnneeded);
  }

  private wait(
    requester: Requester,
    key: string,
    queue: CallerQueue,
    cost: number,
    isUnneeded: () => boolean,
  ): Promise<Release> {
    if (queue.allowance) this.retryLater();
    return new Promise((resolve, reject) => {
      const waiting = {
        cost,
        isUnneeded,
        start: () => {
          forgetDeadline();
          const rejection = this.options.rejectionOf?.(requester);
          if (!rejection && !isUnneeded()) return resolve(this.start(key, queue, cost));
          if (rejection) {
            // Sending its response takes time, and hundreds of operations can wait.
            this.startNothingElse();
            reject(rejection);
          } else resolve(NOTHING_TO_RELEASE);
          this.forgetIfEmpty(key, queue);
        },
      };
      queue.waiting.push(waiting);
      const { deadline } = requester;
      const forgetDeadline = deadline.onEnd(() => {
        const index = queue.waiting.indexOf(waiting);
        if (index >= 0) queue.waiting.splice(index, 1);
        this.forgetIfEmpty(key, queue);
        reject(deadline.reason);
      });
    });
  }

  private start(key: string, queue: CallerQueue, cost: number): Release {
    if (queue.allowance) {
      if (this.startedNow === 0) this.endIteration();
      queue.allowance.spend(cost);
      this.startedNow += cost;
      this.forgetIfEmpty(key, queue);
      return NOTHING_TO_RELEASE;
    }
    this.startNothingElse();
    this.queues.set(key, queue);
    queue.running += cost;
    this.running += cost;
    return () => {
      queue.running -= cost;
      this.running -= cost;
      this.forgetIfEmpty(key, queue);
      // The response is made and sent in this iteration, which may take as long as the start of an operation.
      if (cost > 0) this.startNothingElse();
    };
  }

  /** Lets nothing else start in this iteration of the event loop. */
  private startNothingElse(): void {
    if (this.startedNow === 0) this.endIteration();
    this.startedNow = Infinity;
  }

  /** Lets further operations start after this iteration of the event loop, and after a pause if the iteration was long. */
  private endIteration(): void {
    const startedAt = batchStartedAt() ?? performance.now();
    const end = () => {
      const ms = performance.now() - startedAt;
      const isLong = this.readsLargeDocument || ms > MAX_ITERATION_MS;
      const pause = this.readsLargeDocument ? PAUSE_AFTER_LARGE_DOCUMENT * ms : ms;
      this.startedNow = 0;
      this.readsLargeDocument = false;
      if (!isLong) return this.startNext();
      this.isPaused = true;
      setTimeout(() => {
        this.isPaused = false;
        this.startNext();
      }, pause);
    };
    // The operation of a large document is analysed in the iteration after the one that reads the document.
    setImmediate(() => (this.readsLargeDocument ? setImmediate(end) : end()));
  }

  private startNext(): void {
    for (const [key, queue] of this.queues) {
      if (this.isPaused || this.startedNow === Infinity) return;
      const [next] = queue.waiting;
      if (!next) continue;
      if (!next.isUnneeded() && !this.mayStart(queue, next.cost)) {
        if (queue.allowance) this.retryLater();
        continue;
      }
      queue.waiting.shift();
      // Moves the caller to the end of the round-robin.
      this.queues.delete(key);
      this.queues.set(key, queue);
      next.start();
    }
  }

  private mayStart({ running, allowance }: CallerQueue, cost: number): boolean {
    if (this.isPaused) return false;
    if (allowance)
      return allowance.isLeft && (this.startedNow === 0 || this.startedNow + cost <= MAX_UNCOUNTED_AT_ONCE);
    if (this.startedNow > 0) return false;
    if (cost === 0) return true;
    return this.running < MAX_RUNNING_IN_TOTAL && (running === 0 || running + cost <= MAX_RUNNING);
  }

  private retryLater(): void {
    this.retry ??= setTimeout(() => {
      this.retry = undefined;
      this.startNext();
    }, RETRY_MS).unref();
  }

  private forgetIfEmpty(key: string, queue: CallerQueue): void {
    if (!queue.running && !queue.waiting.length) this.queues.delete(key);
  }
}

/** A token bucket for the estimated cost of one caller's uncounted work. */
class Allowance {
  private left = UNCOUNTED_PER_SECOND;
  private at = performance.now();

  get isLeft(): boolean {
    const now = performance.now();
    this.left = Math.min(UNCOUNTED_PER_SECOND, this.left + ((now - this.at) * UNCOUNTED_PER_SECOND) / 1000);
    this.at = now;
    return this.left > 0;
  }

  /** The cost may exceed the remaining allowance. The caller's next work then waits longer. */
  spend(cost: number): void {
    this.left -= cost;
  }
}

const NOTHING_TO_RELEASE: Release = () => undefined;
