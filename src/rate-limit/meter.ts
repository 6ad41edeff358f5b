import { type LimitStatus, limitError, type Subject } from './limit-status';
import type { Limiter } from './limiter';
import type { RequestKind } from './rules';

/**
 * Charges one request, at most once. Each request has a meter, also each operation over WebSocket. Operations are charged by
 * {@link charge}, which has three callers:
 * - `@rateLimit` (graphql/rate-limit-directive.ts), before the first counted field runs;
 * - the executor, for operations without counted fields;
 * - idempotency.ts, before it looks for a stored response, since a replay runs no field.
 *
 * A request that runs no operation, or fails before its operation is charged, is charged by its transport, through
 * {@link take}.
 */
export class Meter {
  private taken: LimitStatus | Promise<LimitStatus> | undefined;
  private charged: Promise<LimitStatus> | undefined;
  /** The error with which {@link charge} failed. It rejects the whole operation. */
  chargeError: unknown;
  /** The caller's status, including any charge for this request; `undefined` until a method has settled. */
  status: LimitStatus | undefined;

  constructor(
    private readonly store: Pick<Limiter, 'take' | 'peek'>,
    readonly subject: Subject,
  ) {}

  /**
   * Charges an operation for all its counted fields together. Further calls charge nothing and return the same promise.
   * @param countedFields the number of requests to charge; 0 for an operation that uses no quota.
   * @throws OperationRejection `RATE_LIMITED`, `KEY_BANNED`.
   */
  charge(countedFields: number): Promise<LimitStatus> {
    this.charged ??= this.takeOrReject(countedFields);
    return this.charged;
  }

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

  private async takeOrReject(countedFields: number): Promise<LimitStatus> {
    try {
      const status = await this.take(countedFields);
      const rejection = limitError(status);
      if (rejection) throw rejection;
      return status;
    } catch (error) {
      this.chargeError = error;
      throw error;
    }
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
