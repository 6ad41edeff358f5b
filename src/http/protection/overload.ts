import type { FastifyInstance } from 'fastify';
import { ProblemError } from '../../errors/problem';
import { EventLoopLag } from './event-loop-lag';
import type { RequestsInProgress } from './requests-in-progress';

declare module 'fastify' {
  interface FastifyRequest {
    /** Whether it is refused up front because the process is overloaded: then it counts towards no quota and no ban. */
    isShed: boolean;
  }
}

export interface OverloadLimits {
  /** Requests in progress. */
  readonly inProgress: number;
  /** Event loop lag. */
  readonly lagMs: number;
}

/** A caller's share of the slots for requests is one of this many (contract, section 7). */
const SHARES = 4;
/** Seconds after which a caller may try again that has its share. */
const RETRY_AFTER = 1;

/**
 * Refuses requests while the process is overloaded, so that those it accepts are answered in time. `@fastify/under-pressure`
 * knows neither how many requests are in progress nor operations over WebSocket. While no more than one share of the slots is
 * left, those who already have theirs are refused, so that no caller, whatever it does with its requests, takes the slots
 * of the others.
 * {@link Overload.notice} marks them before their key is looked up; {@link Overload.shed} refuses them at the point where
 * the response gets all its headers. Health and metrics are always answered.
 */
export class Overload {
  refused = 0;
  readonly lag = new EventLoopLag();

  constructor(
    private readonly requests: RequestsInProgress,
    private readonly limits: OverloadLimits,
  ) {}

  notice(app: FastifyInstance): void {
    app.decorateRequest('isShed', false);
    app.addHook('onRequest', (request, _reply, done) => {
      request.isShed = this.isTooMuch;
      done();
    });
    // Lag during startup is not overload.
    app.addHook('onReady', async () => this.lag.start());
    app.addHook('onClose', async () => this.lag.stop());
  }

  shed(app: FastifyInstance): void {
    app.addHook('onRequest', (request, reply, done) => {
      if (request.routeOptions.config.metering === 'unmetered') return done();
      const problem = request.isShed ? this.refuse() : this.refuseMore(request.caller.id);
      if (!problem) return done();
      request.isShed = true;
      this.requests.release(request);
      if (problem.status === 429) reply.header('retry-after', RETRY_AFTER);
      done(problem);
    });
  }

  /** @returns why an operation of a caller that does not arrive as an HTTP request is refused. */
  refusalFor(caller: string): ProblemError | undefined {
    return this.isTooMuch ? this.refuse() : this.refuseMore(caller);
  }

  private get isTooMuch(): boolean {
    return this.requests.count > this.limits.inProgress || this.lag.ms > this.limits.lagMs;
  }

  /** Refuses a caller that has its share while few slots are left. Fewer slots than shares are not divided. */
  private refuseMore(caller: string): ProblemError | undefined {
    const { inProgress } = this.limits;
    const share = Math.floor(inProgress / SHARES);
    if (inProgress - this.requests.count >= share || this.requests.countOf(caller) <= share) return undefined;
    this.refused += 1;
    const message = `You have ${share} requests in progress, and others need the rest. Try again in ${RETRY_AFTER} second.`;
    return new ProblemError('RATE_LIMITED', message);
  }

  private refuse(): ProblemError {
    this.refused += 1;
    return new ProblemError('SERVICE_UNAVAILABLE', 'The service is overloaded. Try again shortly.');
  }
}
