import type { FastifyInstance } from 'fastify';
import { problemOfStanding } from '../graphql/limits';
import type { Standing } from '../rate-limit/standing';
import type { TallyStore } from '../rate-limit/tally-store';
import { problemBody } from './problems';
import type { Tarpit } from './tarpit';

declare module 'fastify' {
  interface FastifyRequest {
    /** Whether its caller is banned, and it was refused before anything else was done. */
    isTurnedAway: boolean;
  }
}

/**
 * Refuses the requests of callers that are banned already before their bodies are read, without a line in the log, and
 * slowed down by a tarpit: a flood costs little, and other callers wait no longer for it. The request that brings the ban
 * is refused further on.
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
