import type { LimitStatus, Subject } from './limit-status';
import type { Limiter } from './limiter';
import type { RequestKind } from './rules';

/**
 * The meter of one request: it takes only once, whichever code asks first, and remembers the caller's resulting
 * status, which goes into the response headers.
 */
export class Meter {
  private taken: LimitStatus | Promise<LimitStatus> | undefined;
  /** The caller's status after this request; `undefined` until it has been counted. */
  status: LimitStatus | undefined;

  constructor(
    private readonly store: Pick<Limiter, 'take' | 'peek'>,
    readonly subject: Subject,
  ) {}

  /** Takes `cost` requests, or one free request if it is 0. Further calls take nothing and return the same status. */
  take(cost: number, kind: RequestKind = cost ? 'counted' : 'free'): LimitStatus | Promise<LimitStatus> {
    this.taken ??= this.remember(this.store.take(this.subject, cost || 1, kind));
    return this.taken;
  }

  /** The caller's status; takes nothing. */
  peek(): LimitStatus | Promise<LimitStatus> {
    return this.remember(this.store.peek(this.subject));
  }

  private remember(status: LimitStatus | Promise<LimitStatus>): LimitStatus | Promise<LimitStatus> {
    if (!(status instanceof Promise)) {
      this.status = status;
      return status;
    }
    return status.then((settled) => {
      this.status = settled;
      this.taken &&= settled;
      return settled;
    });
  }
}
