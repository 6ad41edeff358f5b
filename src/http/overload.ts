import type { FastifyInstance } from 'fastify';
import { ProblemError } from '../graphql/errors';
import { EventLoopLag } from './event-loop-lag';
import type { RequestsInProgress } from './requests-in-progress';

declare module 'fastify' {
  interface FastifyRequest {
    /** Refused before it is worked on, since the process has too much to do. */
    isShed: boolean;
  }
}

export interface OverloadLimits {
  /** Requests that are worked on at once. */
  readonly inProgress: number;
  /** How late the process may be, in milliseconds. */
  readonly lagMs: number;
}

/**
 * Refuses requests while the process has more to do than it gets done, so that those it takes are answered in time. To be
 * marked as such they pass {@link Overload.notice} before their key is looked up, and {@link Overload.shed} refuses them
 * where the answer gets all its headers. Health and metrics are always answered.
 */
export class Overload {
  /** Requests refused so far. */
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
    // What the start itself takes is no overload.
    app.addHook('onReady', (done) => {
      this.lag.start();
      done();
    });
    app.addHook('onClose', (_app, done) => {
      this.lag.stop();
      done();
    });
  }

  shed(app: FastifyInstance): void {
    app.addHook('onRequest', (request, _reply, done) => {
      if (!request.isShed || request.routeOptions.config.metering === 'unmetered') return done();
      done(this.refuse());
    });
  }

  /** @throws ProblemError `SERVICE_UNAVAILABLE` for what comes otherwise than as a request, while it is too much. */
  check(): void {
    if (this.isTooMuch) throw this.refuse();
  }

  private get isTooMuch(): boolean {
    return this.requests.count > this.limits.inProgress || this.lag.ms > this.limits.lagMs;
  }

  private refuse(): ProblemError {
    this.refused += 1;
    return new ProblemError('SERVICE_UNAVAILABLE', 'The service has too much to do. Try again shortly.');
  }
}
