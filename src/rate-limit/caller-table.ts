import { lastEnd, newState, type State } from './state';

/** How many entries each new caller makes it check: more than one, so that expired entries go faster than new ones come. */
const LOOK_AT = 8;

/** How many when it is full: more, so that a caller with little use is likely to be among them. */
const LOOK_AT_WHEN_FULL = 32;

/** A ban of the last day outweighs any use when choosing whom to evict: the next one would be a first one again. */
const BAN_WEIGHT = 1e12;

/**
 * The state of each caller of one process, by id: at most `capacity` and those that are banned, without a timer: each new caller makes it
 * check the next few entries in turn and drop those whose windows and bans have all ended.
 *
 * A flood of addresses (an IPv6 /48 alone has 65,536 networks of /64) gets a quota per address: stopping that is a
 * firewall's job. Here it can fill the table, after which each new caller evicts, of the entries checked, the one that
 * has used least. So the flood's single-request callers evict each other, and a caller that has used much is evicted
 * only if all others checked weigh more; its quota then starts afresh. An LRU cache would evict customers. A caller that is
 * banned is never evicted: each has cost a whole quota of requests, and more, so they come slower than their bans end.
 */
export class CallerTable extends Map<string, State> {
  private hand = this.entries();

  constructor(private readonly capacity: number) {
    super();
  }

  /** Adds a caller that is not there. */
  add(id: string, now: number): State {
    this.makeRoom(now);
    // Still full, if all that it checked are banned or it has grown by those: once more, so that it shrinks again.
    if (this.size >= this.capacity) this.makeRoom(now);
    const state = newState();
    this.set(id, state);
    return state;
  }

  private makeRoom(now: number): void {
    let least: string | undefined;
    let leastWeight = Number.POSITIVE_INFINITY;
    const isFull = this.size >= this.capacity;
    for (let looks = isFull ? LOOK_AT_WHEN_FULL : LOOK_AT; looks > 0; looks--) {
      const next = this.nextEntry();
      if (next === undefined) break;
      const [id, state] = next;
      const weight = state.dayUsed + state.refusals + (state.bansEnd > now ? BAN_WEIGHT : 0);
      if (lastEnd(state) <= now) {
        this.delete(id);
      } else if (state.bannedUntil <= now && weight < leastWeight) {
        least = id;
        leastWeight = weight;
      }
    }
    if (this.size >= this.capacity && least !== undefined) this.delete(least);
  }

  private nextEntry(): [string, State] | undefined {
    const step = this.hand.next();
    if (!step.done) return step.value;
    this.hand = this.entries();
    return this.hand.next().value;
  }
}
