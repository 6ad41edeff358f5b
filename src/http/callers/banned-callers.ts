import type { FastifyInstance } from 'fastify';
import type { Problem } from '../../errors/problem';
import { problemOfStatus } from '../../graphql/charging/limit-problem';
import type { Meter } from '../../rate-limit/meter';
import type { CountingStore } from '../../rate-limit/stores/counting-store';
import { errorAnswer } from '../error-handling';
import { Tarpit } from './tarpit';

declare module 'fastify' {
  interface FastifyRequest {
    /** Whether it was refused up front because its caller was already banned. */
    isTurnedAway: boolean;
  }
}

/**
 * Refuses requests of callers that are already banned: before the body is read, without a log line, and delayed by a
 * tarpit, so that a flood costs little and does not slow down other callers. The request that triggers the ban is
 * refused later.
 */
export class BannedCallers {
  private readonly tarpit = new Tarpit();

  constructor(private readonly limits: CountingStore) {}

  /** Counts a request of a banned caller. @returns its refusal, once it may be sent; `undefined` for all other callers. */
  async refuse(meter: Meter): Promise<Problem | undefined> {
    const { id } = meter.subject;
    if (!this.limits.wasBanned(id)) return undefined;
    const problem = problemOfStatus(await meter.take(1));
    if (problem) await new Promise<void>((resolve) => this.tarpit.refuse(id, resolve));
    return problem;
  }

  refuseAll(app: FastifyInstance): void {
    app.decorateRequest('isTurnedAway', false);
    app.addHook('onRequest', (request, reply, done) => {
      const { caller, meter, routeOptions } = request;
      if (!this.limits.wasBanned(caller.id) || routeOptions.config.metering === 'unmetered') return done();
      this.refuse(meter)
        .then((problem) => {
          if (!problem) return done();
          request.isTurnedAway = true;
          const { status, type, body } = errorAnswer(request, problem);
          reply.code(status).type(type).send(JSON.stringify(body));
        })
        .catch(done);
    });
  }
}
