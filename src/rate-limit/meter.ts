import { type LimitStatus, limitError, type Subject } from './limit-status';
import type { Limiter } from './limiter';
import type { RequestKind } from './rules';

/**
 * Charges one request, at most once. Each HTTP request and each operation over WebSocket has a meter. Operations are charged by
 * {@link chargeOrThrow}, which has three callers:
 * - `@rateLimit` (graphql/rate-limit-directive.ts), before the first counted field runs;
 * - the executor, for operations without counted fields;
 * - idempotency.ts, before it looks for a stored response, since a replay runs no field.
 *
 * A request that runs no operation, or fails before its operation is charged, is charged by its transport, through
 * {@link charge}.
 */
export class Meter {
  private chargedStatus: LimitStatus | Promise<LimitStatus> | undefined;
  private operationCharge: Promise<LimitStatus> | undefined;
  /** The error with which {@link chargeOrThrow} failed. It rejects the whole operation. */
  chargeError: unknown;
  /** The caller's status, including any charge for this request; `undefined` until a method has settled. */
  status: LimitStatus | undefined;

  constructor(
    private readonly limiter: Pick<Limiter, 'take' | 'peek'>,
    readonly subject: Subject,
  ) {}

  /**
   * Charges an operation for all its counted fields together. Further calls charge nothing and return the same promise.
   * @param countedFields the number of requests to charge; 0 for an operation that uses no quota.
   * @throws OperationRejection `RATE_LIMITED`, `KEY_BANNED`.
   */
  chargeOrThrow(countedFields: number): Promise<LimitStatus> {
    this.operationCharge ??= this.rejectIfLimited(countedFields);
    return this.operationCharge;
  }

  /**
   * Charges the caller. Further calls charge nothing and return the same status.
   * @param requests more than 1 only for counted requests.
   */
  charge(kind: RequestKind, requests = 1): LimitStatus | Promise<LimitStatus> {
    this.chargedStatus ??= this.remember(this.limiter.take(this.subject, requests, kind));
    return this.chargedStatus;
  }

  /** Charges nothing for this request, now or later. Called if the request is rejected because of load. */
  waive(): LimitStatus | Promise<LimitStatus> {
    this.chargedStatus ??= this.peek();
    return this.chargedStatus;
  }

  /** Settles the charge with this status, without charging. Called if the caller is known to be banned. */
  settle(status: LimitStatus): void {
    this.chargedStatus = this.remember(status);
  }

  /** Whether the request is charged, waived, or rejected because of a ban; false while a charge is in progress. */
  get isSettled(): boolean {
    return this.chargedStatus !== undefined && !(this.chargedStatus instanceof Promise);
  }

  /** Returns the caller's status without charging a request. */
  peek(): LimitStatus | Promise<LimitStatus> {
    return this.remember(this.limiter.peek(this.subject));
  }

  private async rejectIfLimited(countedFields: number): Promise<LimitStatus> {
    try {
      const status = await (countedFields ? this.charge('counted', countedFields) : this.charge('free'));
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
      this.chargedStatus &&= settled;
      return settled;
    });
  }
}
