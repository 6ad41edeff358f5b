import { LRUCache } from 'lru-cache';
import { type LimitStatus, limitStatusOf, type Subject } from './limit-status';
import { type BanRules, copyWindows, lift, look, newState, type RequestKind, type State, take } from './rules';

export interface MemoryStoreOptions {
  readonly bans: BanRules;
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number;
  /** Maximum number of callers in memory; each takes about 400 bytes. */
  readonly maxCallers?: number;
}

/**
 * Counts requests in this process, synchronously. Counts are exact for one instance, and lost when the process ends. At the
 * maximum number of callers, the least recently used caller is evicted, and later starts with a full quota again.
 */
export class MemoryStore {
  private readonly callers: LRUCache<string, State>;
  private readonly bans: BanRules;
  private readonly now: () => number;

  constructor({ bans, now, maxCallers = 100_000 }: MemoryStoreOptions) {
    this.callers = new LRUCache({ max: maxCallers });
    this.bans = bans;
    this.now = now;
  }

  take(subject: Subject, requests: number, kind: RequestKind): LimitStatus {
    const now = this.now();
    const state = this.stateOf(subject.id);
    const shared = subject.windowsOf === undefined ? undefined : this.stateOf(subject.windowsOf);
    if (shared) copyWindows(shared, state);
    const verdict = take(state, subject.quota, requests, kind, this.bans, now);
    if (shared) copyWindows(state, shared);
    return limitStatusOf(verdict, state, subject.quota, requests, kind, now);
  }

  peek(subject: Subject): LimitStatus {
    const now = this.now();
    const state = this.callers.get(subject.id) ?? newState();
    if (subject.windowsOf !== undefined) copyWindows(this.callers.get(subject.windowsOf) ?? newState(), state);
    return limitStatusOf(look(state, this.bans, now), state, subject.quota, 1, 'counted', now);
  }

  isBanned(id: string): boolean {
    const state = this.callers.get(id);
    return state !== undefined && look(state, this.bans, this.now()) === 'banned';
  }

  private stateOf(id: string): State {
    let state = this.callers.get(id);
    if (!state) {
      state = newState();
      this.callers.set(id, state);
    }
    return state;
  }

  liftBan(id: string): boolean {
    const state = this.callers.get(id);
    return state !== undefined && lift(state, this.bans, this.now());
  }
}
