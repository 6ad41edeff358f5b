import type { LimitStatus, Subject } from './limit-status';
import type { Limiter } from './limiter';
import type { RequestKind } from './rules';

/**
 * The meter of a request. It charges the request only once, however often `take` is called. It keeps the caller's status for
 * the response headers.
 */
export class Meter {
  private taken: LimitStatus | Promise<LimitStatus> | undefined;
  /** The caller's status, including any charge for this request; `undefined` until `take` or `peek` has returned. */
  status: LimitStatus | undefined;

  constructor(
    private readonly store: Pick<Limiter, 'take' | 'peek'>,
    readonly subject: Subject,
  ) {}

  /**
   * Charges `cost` requests, or one free request if `cost` is 0. Further calls charge nothing and return the same status.
   */
  take(cost: number, kind: RequestKind = cost ? 'counted' : 'free'): LimitStatus | Promise<LimitStatus> {
    this.taken ??= this.remember(this.store.take(this.subject, cost || 1, kind));
    return this.taken;
  }

  /** Returns the caller's status without charging a request. */
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
