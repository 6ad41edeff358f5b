import { ProblemError } from '../errors/errors';
import { EventLoopLag } from './event-loop-lag';
import type { RequestsInProgress } from './requests-in-progress';

export interface OverloadLimits {
  /** Requests in progress. */
  readonly inProgress: number;
  /** Event loop lag. */
  readonly lagMs: number;
}

/** A caller's share of the slots for requests is one of this many (contract, section 7). */
const SHARES = 4;
/** Seconds after which a caller may try again that has its share. */
export const RETRY_AFTER = 1;

/**
 * Refuses requests while the process is overloaded, so that those it accepts are answered in time. `@fastify/under-pressure`
 * knows neither how many requests are in progress nor operations over WebSocket. While no more than one share of the slots is
 * left, those who already have theirs are refused, so that no caller, whatever it does with its requests, takes the slots
 * of the others. A request whose key is still being looked up is nobody's share yet.
 */
export class Overload {
  refused = 0;
  readonly lag = new EventLoopLag();

  constructor(
    private readonly requests: RequestsInProgress,
    private readonly limits: OverloadLimits,
  ) {}

  /** Whether the process has more to do than it can. */
  get isTooMuch(): boolean {
    return this.requests.count > this.limits.inProgress || this.lag.ms > this.limits.lagMs;
  }

  /**
   * @returns why a request or an operation of a caller is refused: there are too many of all, or few slots are left and the
   * caller has its share. Fewer slots than shares are not divided.
   */
  refusalFor(caller: string, isTooMuch = this.isTooMuch): ProblemError | undefined {
    const { inProgress } = this.limits;
    if (isTooMuch) {
      this.refused += 1;
      return new ProblemError('SERVICE_UNAVAILABLE', 'The service is overloaded. Try again shortly.');
    }
    const share = Math.floor(inProgress / SHARES);
    if (inProgress - this.requests.count >= share || this.requests.countOf(caller) <= share) return undefined;
    this.refused += 1;
    const message = `You have ${share} requests in progress, and others need the rest. Try again in ${RETRY_AFTER} second.`;
    return new ProblemError('RATE_LIMITED', message);
  }
}
