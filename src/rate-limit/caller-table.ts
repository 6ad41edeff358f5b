import { lastEnd, newState, type State } from './state';

/** How many callers a new one makes it look at: more than one, so what has ended goes faster than new ones come. */
const LOOK_AT = 8;

/** When there is no room left: more, so that one who has used little is likely to be among them. */
const LOOK_AT_WHEN_FULL = 32;

/** A ban outweighs any use when it comes to whom to forget. */
const BAN_WEIGHT = 1e12;

/**
 * The callers of one process, at most `capacity` of them, with no timer: every new caller makes it look at the next few in
 * turn and drop those whose windows and bans have all ended.
 *
 * A flood of addresses (an IPv6 /48 alone has 65,536 networks of /64) gets a quota for each address: that is for a firewall
 * to stop. Here it can fill the table, and from then on a new caller pushes out, of those looked at, the one that has used
 * least. So the flood's own callers of one request push out each other, and one that has used much, or is banned, is
 * forgotten only when all that were looked at have used more; its quota then starts afresh.
 */
export class CallerTable {
  private readonly states = new Map<string, State>();
  private hand = this.states.entries();

  constructor(private readonly capacity: number) {}

  get size(): number {
    return this.states.size;
  }

  find(id: string): State | undefined {
    return this.states.get(id);
  }

  add(id: string, now: number): State {
    this.makeRoom(now);
    const state = newState();
    this.states.set(id, state);
    return state;
  }

  private makeRoom(now: number): void {
    let least: string | undefined;
    let leastWeight = Number.POSITIVE_INFINITY;
    const isFull = this.states.size >= this.capacity;
    for (let looks = isFull ? LOOK_AT_WHEN_FULL : LOOK_AT; looks > 0; looks--) {
      const next = this.next();
      if (next === undefined) break;
      const [id, state] = next;
      const weight = state.dayUsed + state.refusals + (state.bansEnd > now ? BAN_WEIGHT : 0);
      if (lastEnd(state) <= now) {
        this.states.delete(id);
      } else if (weight < leastWeight) {
        least = id;
        leastWeight = weight;
      }
    }
    if (this.states.size >= this.capacity && least !== undefined) this.states.delete(least);
  }

  private next(): [string, State] | undefined {
    const step = this.hand.next();
    if (!step.done) return step.value;
    this.hand = this.states.entries();
    return this.hand.next().value;
  }
}
