import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { ProblemError } from '../../errors/problem';

const SEVERAL_HOSTS = 'A request must have one Host header.';
const NO_HOST = 'An HTTP/1.1 request must have a Host header.';

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
    const hosts = hostsOf(raw);
    if (hosts === 1 || (hosts === 0 && raw.httpVersion !== '1.1')) return done();
    done(new ProblemError('BAD_REQUEST', hosts ? SEVERAL_HOSTS : NO_HOST));
  });
}

/** The number of Host headers (RFC 9112, section 3.2). Node takes the first of several, a proxy in front perhaps the last. */
function hostsOf({ rawHeaders }: IncomingMessage): number {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    if (name.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  return count;
}
