import type { FastifyInstance } from 'fastify';
import { ProblemError } from '../../errors/problem';

/**
 * Node and Fastify answer some requests themselves, bypassing all hooks, without the headers that every response carries:
 * requests without `Host`, with an unknown `Expect`, or that arrive while the server is closing. With these options and
 * {@link answerWhatNodeWould} they pass the hooks like all others.
 */
export const NO_SHORT_CUTS = { return503OnClosing: false, http: { requireHostHeader: false } } as const;

export function answerWhatNodeWould(app: FastifyInstance): void {
  // A server may ignore an unknown expectation (RFC 9110, section 10.1.1).
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  app.addHook('onRequest', ({ raw }, _reply, done) => {
    const isHostless = raw.httpVersion === '1.1' && raw.headers.host === undefined;
    done(isHostless ? new ProblemError('BAD_REQUEST', 'An HTTP/1.1 request must have a Host header.') : undefined);
  });
}
