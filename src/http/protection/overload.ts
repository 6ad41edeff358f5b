import type { FastifyInstance } from 'fastify';
import { ProblemError } from '../../errors/problem';
import { EventLoopLag } from './event-loop-lag';
import type { RequestsInProgress } from './requests-in-progress';

declare module 'fastify' {
  interface FastifyRequest {
    /** Whether it is refused up front because the process is overloaded. */
    isShed: boolean;
  }
}

export interface OverloadLimits {
  readonly inProgress: number;
  readonly lagMs: number;
}

/**
 * Refuses requests while the process is overloaded, so that those it accepts are answered in time. `@fastify/under-pressure`
 * knows neither how many requests are in progress nor operations over WebSocket.
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

  /** For operations that do not arrive as HTTP requests. @throws ProblemError `SERVICE_UNAVAILABLE` while overloaded. */
  check(): void {
    if (this.isTooMuch) throw this.refuse();
  }

  private get isTooMuch(): boolean {
    return this.requests.count > this.limits.inProgress || this.lag.ms > this.limits.lagMs;
  }

  private refuse(): ProblemError {
    this.refused += 1;
    return new ProblemError('SERVICE_UNAVAILABLE', 'The service is overloaded. Try again shortly.');
  }
}
