import { CallerTable } from './caller-table';
import { type LimitStatus, limitStatusOf, type Subject } from './limit-status';
import { type BanRules, lift, look, type RequestKind, take } from './rules';
import { newState } from './state';
import type { Store } from './store';

export interface MemoryStoreOptions {
  readonly bans: BanRules;
  /** Milliseconds of the Unix epoch. */
  readonly now: () => number;
  /** Maximum number of callers remembered; each takes about 330 bytes. */
  readonly maxCallers?: number;
}

/** Counts in this process: exact for one instance, and lost when it ends. Synchronous. */
export class MemoryStore implements Store {
  readonly state = 'memory';
  private readonly callers: CallerTable;
  private readonly bans: BanRules;
  private readonly now: () => number;

  constructor({ bans, now, maxCallers = 100_000 }: MemoryStoreOptions) {
    this.callers = new CallerTable(maxCallers);
    this.bans = bans;
    this.now = now;
  }

  take(subject: Subject, cost: number, kind: RequestKind): LimitStatus {
    const now = this.now();
    const state = this.callers.get(subject.id) ?? this.callers.add(subject.id, now);
    const verdict = take(state, subject.quota, cost, kind, this.bans, now);
    return limitStatusOf(verdict, state, subject.quota, cost, kind, now);
  }

  peek(subject: Subject): LimitStatus {
    const now = this.now();
    const state = this.callers.get(subject.id) ?? newState();
    return limitStatusOf(look(state, now), state, subject.quota, 1, 'counted', now);
  }

  liftBan(id: string): boolean {
    const state = this.callers.get(id);
    return state !== undefined && lift(state, this.now());
  }

  async close(): Promise<void> {}
}
