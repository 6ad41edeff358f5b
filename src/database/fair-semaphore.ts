import type { Requester } from './database';
import type { Deadline } from './deadline';

/** Releases the slot. */
export type Release = () => void;

interface CallerQueue {
  running: number;
  readonly waiting: (() => void)[];
}

/** The fraction of all connections, and of the queue, that one caller may take. */
const MOST_OF_ONE_CALLER = 0.75;

/** The number of connections that one caller may hold: three quarters of all connections, but at least two. */
export function connectionsOfOneCaller(all: number): number {
  return Math.max(2, Math.floor(all * MOST_OF_ONE_CALLER));
}

/** A semaphore with a FIFO queue for each caller. It serves the queues round-robin. */
export class FairSemaphore {
  /** The callers that hold or wait for a slot. */
  private readonly callers = new Map<string, CallerQueue>();
  /** The queues with waiting requests, in round-robin order. */
  private readonly turns: CallerQueue[] = [];
  private free: number;
  private total = 0;
  private isPaused = false;

  /**
   * @param slotsForOneCaller maximum number of slots that one caller holds at the same time.
   * @param places maximum number of waiting requests; further requests are rejected.
   */
  constructor(
    slots: number,
    private readonly slotsForOneCaller: number,
    private readonly places: number,
  ) {
    this.free = slots;
  }

  get waiting(): number {
    return this.total;
  }

  /** Number of free slots. */
  get idle(): number {
    return this.free;
  }

  /** Hands out no slots until {@link resume} is called. */
  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
    this.serveWaiting();
  }

  /**
   * Takes a slot, or waits in the queue until the caller may take a slot.
   * @throws Ended if the deadline passes first; Error `53300` (too many connections) if the queue is full, or already holds the
   * maximum number of this caller's requests.
   */
  acquire(requester: Requester): Release | Promise<Release> {
    requester.deadline.check();
    const queue = this.callers.get(requester.callerId) ?? { running: 0, waiting: [] };
    if (this.mayStart(queue)) {
      this.callers.set(requester.callerId, queue);
      return this.start(requester.callerId, queue);
    }
    checkPlaces(this.total, queue.waiting.length, this.places);
    this.callers.set(requester.callerId, queue);
    return this.wait(requester.callerId, requester.deadline, queue);
  }

  private wait(caller: string, deadline: Deadline, queue: CallerQueue): Promise<Release> {
    return new Promise((resolve, reject) => {
      const begin = () => {
        stop();
        resolve(this.start(caller, queue));
      };
      this.total++;
      if (queue.waiting.push(begin) === 1) this.turns.push(queue);
      const stop = deadline.onEnd(() => {
        this.total--;
        remove(queue.waiting, begin);
        if (!queue.waiting.length) remove(this.turns, queue);
        this.forgetIfIdle(caller, queue);
        reject(deadline.reason);
      });
    });
  }

  private start(caller: string, queue: CallerQueue): Release {
    this.free--;
    queue.running++;
    return () => {
      this.free++;
      queue.running--;
      this.serveWaiting();
      this.forgetIfIdle(caller, queue);
    };
  }

  private serveWaiting(): void {
    while (this.total && this.free && !this.isPaused) {
      const next = this.turns.find((queue) => this.mayStart(queue));
      if (!next) return;
      remove(this.turns, next);
      const begin = next.waiting.shift();
      // Move this caller to the end of the round-robin.
      if (next.waiting.length) this.turns.push(next);
      this.total--;
      begin?.();
    }
  }

  private mayStart({ running }: CallerQueue): boolean {
    return !this.isPaused && this.free > 0 && running < this.slotsForOneCaller;
  }

  private forgetIfIdle(caller: string, { running, waiting }: CallerQueue): void {
    if (!running && !waiting.length) this.callers.delete(caller);
  }
}

function remove<T>(items: T[], item: T): void {
  items.splice(items.indexOf(item), 1);
}

/**
 * @param waiting the number of requests that wait.
 * @param ofCaller the number of the caller's requests that wait.
 * @param places the maximum number of requests that wait.
 * @throws Error `53300` if no place is free for the caller.
 */
export function checkPlaces(waiting: number, ofCaller: number, places: number): void {
  if (waiting < places && ofCaller < places * MOST_OF_ONE_CALLER) return;
  throw Object.assign(new Error('too many requests are waiting for a connection'), { code: '53300' });
}
