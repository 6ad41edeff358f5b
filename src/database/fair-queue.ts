import type { Deadline, Work } from './deadline';

/** Gives the slot back. */
export type Leave = () => void;

/** What one caller has in it. */
interface Share {
  running: number;
  readonly waiting: (() => void)[];
}

/** The part of the slots, and of the places in the queue, that stays free for callers that have less. */
const SHARE = 0.25;
const LEAST_SHARE = 2;

/** How many callers are known before those that have nothing in it are forgotten. */
const MANY_CALLERS = 1000;

/**
 * Hands out a number of slots, fairly: a caller that has its share waits in a queue of its own while others are served,
 * and gets more only while two shares less one stay free for others. Callers that wait take turns.
 */
export class FairQueue {
  private readonly shares = new Map<string, Share>();
  /** The callers that wait, the next one first. */
  private readonly turns: Share[] = [];
  private readonly share: number;
  private free: number;
  private total = 0;

  /** @param places how many may wait; further ones are refused. */
  constructor(
    slots: number,
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
    if (this.mayStart(share)) return this.start(share);
    const others = this.places * SHARE;
    const left = this.places - this.total;
    if (left <= 0 || (left <= others && share.waiting.length >= others)) throw tooMany();
    return this.wait(work.deadline, share);
  }

  private wait(deadline: Deadline, share: Share): Promise<Leave> {
    return new Promise((resolve, reject) => {
      const begin = () => {
        stop();
        resolve(this.start(share));
      };
      this.total++;
      if (share.waiting.push(begin) === 1) this.turns.push(share);
      const stop = deadline.onEnd(() => {
        this.total--;
        remove(share.waiting, begin);
        if (!share.waiting.length) remove(this.turns, share);
        reject(deadline.reason);
      });
    });
  }

  private start(share: Share): Leave {
    this.free--;
    share.running++;
    return () => {
      this.free++;
      share.running--;
      this.serve();
    };
  }

  /** Lets those in who may start now, in turns. */
  private serve(): void {
    while (this.total && this.free) {
      const next = this.turns.find((share) => this.mayStart(share));
      if (!next) return;
      remove(this.turns, next);
      const begin = next.waiting.shift();
      // Its next turn comes after everybody else's.
      if (next.waiting.length) this.turns.push(next);
      this.total--;
      begin?.();
    }
  }

  /** Whether a caller may have one more slot. */
  private mayStart({ running }: Share): boolean {
    return this.free > (running < this.share ? 0 : 2 * this.share - 1);
  }

  private shareOf(caller: string): Share {
    let share = this.shares.get(caller);
    if (!share) {
      if (this.shares.size >= MANY_CALLERS) this.forgetIdle();
      share = { running: 0, waiting: [] };
      this.shares.set(caller, share);
    }
    return share;
  }

  private forgetIdle(): void {
    for (const [caller, { running, waiting }] of this.shares)
      if (!running && !waiting.length) this.shares.delete(caller);
  }
}

function remove<T>(items: T[], item: T): void {
  items.splice(items.indexOf(item), 1);
}

function tooMany(): Error {
  return Object.assign(new Error('too many requests are waiting for a connection'), { code: '53300' });
}
