import type { FastifyInstance } from 'fastify';
import { problemOfStanding } from '../../graphql/limits';
import type { Standing } from '../../rate-limit/standing';
import type { TallyStore } from '../../rate-limit/tally-store';
import { problemBody } from '../error-responses';
import type { Tarpit } from './tarpit';

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
export function refuseBanned(app: FastifyInstance, limits: TallyStore, tarpit: Tarpit): void {
  app.decorateRequest('isTurnedAway', false);
  app.addHook('onRequest', (request, reply, done) => {
    const { caller, meter, routeOptions } = request;
    if (!limits.wasBanned(caller.id) || routeOptions.config.metering === 'unmetered') return done();
    const answer = (standing: Standing) => {
      const problem = problemOfStanding(standing);
      if (!problem) return done();
      request.isTurnedAway = true;
      tarpit.refuse(caller.id, () => {
        reply.code(problem.status).type('application/json; charset=utf-8');
        reply.send(JSON.stringify(problemBody(request, problem)));
      });
    };
    const standing = meter.take(1);
    if (standing instanceof Promise) standing.then(answer).catch(done);
    else answer(standing);
  });
}
