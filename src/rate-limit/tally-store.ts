import type { Kind, Verdict } from './rules';
import type { Standing, Subject } from './standing';
import type { Store } from './store';

/** Counts what another store decides, for metrics. */
export class TallyStore implements Store {
  readonly decisions: Record<Verdict, number> = { allowed: 0, limited: 0, banned: 0, 'too-expensive': 0 };
  bansBegun = 0;

  constructor(private readonly store: Store) {}

  get state(): Store['state'] {
    return this.store.state;
  }

  take(subject: Subject, cost: number, kind: Kind): Standing | Promise<Standing> {
    const standing = this.store.take(subject, cost, kind);
    return standing instanceof Promise ? standing.then((it) => this.count(it)) : this.count(standing);
  }

  peek(subject: Subject): Standing | Promise<Standing> {
    return this.store.peek(subject);
  }

  liftBan(id: string): boolean | Promise<boolean> {
    return this.store.liftBan(id);
  }

  close(): Promise<void> {
    return this.store.close();
  }

  private count(standing: Standing): Standing {
    const { verdict, bannedUntil } = standing;
    this.decisions[verdict] += 1;
    if (verdict === 'limited' && bannedUntil !== undefined) this.bansBegun += 1;
    return standing;
  }
}
