import type { Work } from './deadline';

/** Gives the slot back. */
export type Leave = () => void;

/** What one caller has in it. */
interface Share {
  running: number;
  readonly waiting: Set<() => void>;
}

/** The part of the slots, and of the places in the queue, that stays free for callers that have less. */
const SHARE = 0.25;
const LEAST_SHARE = 2;

/**
 * Hands out a number of slots, fairly: a caller that has its share waits in a queue of its own while others are served,
 * and gets more only as long as others' share stays free. Callers that wait take turns.
 */
export class FairQueue {
  private readonly shares = new Map<string, Share>();
  private readonly share: number;
  private free: number;
  private total = 0;

  /** @param places how many may wait; further ones are refused. */
  constructor(
    private readonly slots: number,
    private readonly places: number,
  ) {
    this.free = slots;
    this.share = Math.max(LEAST_SHARE, Math.floor(slots * SHARE));
  }

  get waiting(): number {
    return this.total;
  }

  /** Number of slots that nobody has. */
  get idle(): number {
    return this.free;
  }

  /**
   * Takes a slot, at once if possible.
   * @throws Ended if the work's deadline ends first; Error `53300` (too many connections) if too many wait.
   */
  enter(work: Work): Leave | Promise<Leave> {
    work.deadline.check();
    const share = this.shareOf(work.caller);
    if (this.hasOwn(share) || (this.total === 0 && this.hasSpare)) return this.start(work.caller, share);
    const others = this.places * SHARE;
    const left = this.places - this.total;
    if (left <= 0 || (left <= others && share.waiting.size >= others)) {
      this.forget(work.caller, share);
      throw tooMany();
    }
    return this.wait(work, share);
  }

  private wait({ caller, deadline }: Work, share: Share): Promise<Leave> {
    return new Promise((resolve, reject) => {
      const begin = () => {
        stop();
        this.drop(share, begin);
        resolve(this.start(caller, share));
      };
      share.waiting.add(begin);
      this.total++;
      const stop = deadline.onEnd(() => {
        this.drop(share, begin);
        this.forget(caller, share);
        reject(deadline.reason);
      });
    });
  }

  private drop(share: Share, begin: () => void): void {
    if (share.waiting.delete(begin)) this.total--;
  }

  private start(caller: string, share: Share): Leave {
    this.free--;
    share.running++;
    return () => {
      this.free++;
      share.running--;
      this.forget(caller, share);
      this.serve();
    };
  }

  /** Lets those in who may start now: first callers that have less than their share, in turns. */
  private serve(): void {
    while (this.total && this.free) {
      const waiting = [...this.shares].filter(([, { waiting }]) => waiting.size);
      const next = waiting.find(([, share]) => this.hasOwn(share)) ?? (this.hasSpare ? waiting[0] : undefined);
      if (!next) return;
      const [caller, share] = next;
      // Its next turn comes after everybody else's.
      this.shares.delete(caller);
      this.shares.set(caller, share);
      const [begin] = share.waiting;
      begin?.();
    }
  }

  private hasOwn({ running }: Share): boolean {
    return this.free > 0 && running < this.share;
  }

  private get hasSpare(): boolean {
    return this.free > (this.slots > this.share ? this.share : 0);
  }

  private shareOf(caller: string): Share {
    let share = this.shares.get(caller);
    if (!share) {
      share = { running: 0, waiting: new Set() };
      this.shares.set(caller, share);
    }
    return share;
  }

  private forget(caller: string, { running, waiting }: Share): void {
    if (!running && !waiting.size) this.shares.delete(caller);
  }
}

function tooMany(): Error {
  return Object.assign(new Error('too many requests are waiting for a connection'), { code: '53300' });
}
