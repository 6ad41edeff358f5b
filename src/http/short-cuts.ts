import type { FastifyInstance } from 'fastify';
import { ProblemError } from '../graphql/errors';

/**
 * Node and Fastify answer some requests by themselves, past all hooks, without the headers that every response carries:
 * those without a Host, those with an expectation that is not known, those that come while the server closes. With these
 * options and {@link answerWhatNodeWould} they come the way of all others.
 */
export const NO_SHORT_CUTS = { return503OnClosing: false, http: { requireHostHeader: false } } as const;

export function answerWhatNodeWould(app: FastifyInstance): void {
  // A server may ignore an expectation that it does not know (RFC 9110, section 10.1.1).
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  app.addHook('onRequest', ({ raw }, _reply, done) => {
    const isHostless = raw.httpVersion === '1.1' && raw.headers.host === undefined;
    done(isHostless ? new ProblemError('BAD_REQUEST', 'An HTTP/1.1 request must name its Host.') : undefined);
  });
}
