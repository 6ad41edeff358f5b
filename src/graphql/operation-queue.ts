import type { Deadline, Requester } from '../database/deadline';

/** An operation of at most this estimated cost never waits. */
const CHEAP = 2_000;
/**
 * Maximum total estimated cost of one caller's running expensive operations. A more expensive operation starts only
 * when the caller runs no other expensive operation.
 */
const MAX_RUNNING = 30_000;
/**
 * An event loop iteration that starts an operation counts as long if it takes more than this many milliseconds. After a
 * long iteration, the next operation starts only after an equally long pause. Large documents therefore use at most half
 * of the event loop's time.
 */
const MAX_ITERATION_MS = 10;

/** Releases an operation's place in the queue. To be called when the operation is done. */
export type Release = () => void;

interface Waiting {
  readonly cost: number;
  /** @returns whether the operation has started. If not, it was rejected. */
  start(): boolean;
}

/** The cost of the operations that one caller runs, and its waiting operations. */
interface CallerQueue {
  running: number;
  readonly waiting: Waiting[];
}

/**
 * Keeps one caller's expensive operations from blocking the event loop. Each caller has a FIFO queue. An operation starts
 * if the caller's running operations stay within the limit on estimated cost. At most one operation starts in each
 * iteration of the event loop, round-robin over all callers, so that other requests are served in between.
 */
export class OperationQueue {
  /** The callers with running or waiting operations, in round-robin order. */
  private readonly callers = new Map<string, CallerQueue>();
  /**
   * Whether no operation may start, because an operation has started in this iteration of the event loop, or because the
   * pause after a long iteration is not over.
   */
  private isPaused = false;

  /** @param rejectionOf the error for an operation of this caller that has waited and would start now. */
  constructor(private readonly rejectionOf: (callerId: string) => Error | undefined = () => undefined) {}

  /**
   * Waits until an operation may start.
   * @param cost the estimated cost of the operation.
   * @returns the function to call when the operation is done; a promise of this function if the operation must wait.
   * @throws Ended if the deadline ends first, or the error of `rejectionOf`.
   */
  enter(requester: Requester, cost: number): Release | Promise<Release> {
    return cost <= CHEAP ? NOTHING_TO_RELEASE : this.enterQueue(requester, cost);
  }

  /**
   * Waits until a document may be parsed and validated. Both block the event loop, so documents wait in a queue.
   * @throws Ended if the deadline ends first.
   */
  enterToRead(requester: Requester): Release | Promise<Release> {
    return this.enterQueue(requester, 0);
  }

  private enterQueue({ callerId, deadline }: Requester, cost: number): Release | Promise<Release> {
    const queue = this.callers.get(callerId) ?? { running: 0, waiting: [] };
    this.callers.set(callerId, queue);
    if (!this.isPaused && !queue.waiting.length && fits(queue, cost)) return this.start(callerId, queue, cost);
    return this.wait(deadline, callerId, queue, cost);
  }

  private wait(deadline: Deadline, callerId: string, queue: CallerQueue, cost: number): Promise<Release> {
    return new Promise((resolve, reject) => {
      const waiting = {
        cost,
        start: () => {
          forgetDeadline();
          const rejection = this.rejectionOf(callerId);
          if (rejection) {
            reject(rejection);
            this.forget(callerId, queue);
            return false;
          }
          resolve(this.start(callerId, queue, cost));
          return true;
        },
      };
      queue.waiting.push(waiting);
      const forgetDeadline = deadline.onEnd(() => {
        const index = queue.waiting.indexOf(waiting);
        if (index >= 0) queue.waiting.splice(index, 1);
        this.forget(callerId, queue);
        reject(deadline.reason);
      });
    });
  }

  private start(callerId: string, queue: CallerQueue, cost: number): Release {
    queue.running += cost;
    this.isPaused = true;
    const startedAt = performance.now();
    const mayStart = () => {
      this.isPaused = false;
      this.startNext();
    };
    setImmediate(() => {
      const ms = performance.now() - startedAt;
      if (ms > MAX_ITERATION_MS) setTimeout(mayStart, ms);
      else mayStart();
    });
    return () => {
      queue.running -= cost;
      this.forget(callerId, queue);
      if (!this.isPaused) this.startNext();
    };
  }

  private startNext(): void {
    for (const [callerId, queue] of this.callers) {
      const [next] = queue.waiting;
      if (!next || !fits(queue, next.cost)) continue;
      queue.waiting.shift();
      // Moves the caller to the end of the round-robin.
      this.callers.delete(callerId);
      this.callers.set(callerId, queue);
      if (next.start()) return;
    }
  }

  private forget(callerId: string, queue: CallerQueue): void {
    if (!queue.running && !queue.waiting.length) this.callers.delete(callerId);
  }
}

function fits({ running }: CallerQueue, cost: number): boolean {
  return running === 0 || running + cost <= MAX_RUNNING;
}

const NOTHING_TO_RELEASE: Release = () => undefined;
