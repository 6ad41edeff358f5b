import type { LimitStatus, Subject } from './limit-status';
import type { RequestKind, Verdict } from './rules';
import type { Store } from './store';

/**
 * Told of each decision that counts as usage. An allowed operation adds its cost to the requests; a refused one is one
 * refusal, whatever it would have cost, and a ban is counted with the refusal that starts it.
 * @param keyId `undefined` for anonymous callers.
 */
export type OnUsage = (keyId: string | undefined, requests: number, refused: number, bans: number) => void;

/**
 * Counts another store's verdicts, for metrics and as usage. Every decision of the limiter passes it, whichever interface
 * the request came by.
 */
export class CountingStore implements Store {
  readonly decisions: Record<Verdict, number> = { allowed: 0, limited: 0, banned: 0, 'too-expensive': 0 };
  bansBegun = 0;

  constructor(
    private readonly store: Store,
    private readonly onUsage: OnUsage = () => undefined,
  ) {}

  get state(): Store['state'] {
    return this.store.state;
  }

  take(subject: Subject, cost: number, kind: RequestKind): LimitStatus | Promise<LimitStatus> {
    const status = this.store.take(subject, cost, kind);
    const requests = kind === 'counted' ? cost : 0;
    return status instanceof Promise
      ? status.then((it) => this.count(subject, requests, it))
      : this.count(subject, requests, status);
  }

  peek(subject: Subject): LimitStatus | Promise<LimitStatus> {
    return this.store.peek(subject);
  }

  liftBan(id: string): boolean | Promise<boolean> {
    return this.store.liftBan(id);
  }

  close(): Promise<void> {
    return this.store.close();
  }

  private count({ keyId }: Subject, requests: number, status: LimitStatus): LimitStatus {
    const { verdict, bannedUntil } = status;
    this.decisions[verdict] += 1;
    const beginsBan = verdict === 'limited' && bannedUntil !== undefined;
    if (beginsBan) this.bansBegun += 1;
    if (verdict === 'limited' || verdict === 'banned') this.onUsage(keyId, 0, 1, beginsBan ? 1 : 0);
    else if (verdict === 'allowed' && requests) this.onUsage(keyId, requests, 0, 0);
    return status;
  }
}
