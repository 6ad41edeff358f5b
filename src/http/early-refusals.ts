import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { ProblemError } from '../errors/errors';
import { type Overload, RETRY_AFTER } from './overload';
import type { RequestsInProgress } from './requests-in-progress';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Sets headers that say something of the route itself on all its responses, refusals included. */
    annotate?(request: FastifyRequest, reply: FastifyReply): void;
  }
}

export interface Refusers {
  readonly overload: Overload;
  readonly requests: RequestsInProgress;
}

const SEVERAL_HOSTS = 'A request must have one Host header.';
const NO_HOST = 'An HTTP/1.1 request must have a Host header.';

/**
 * Refuses requests before their body is read: those without one host, then those that are too many, or have a wrong key.
 * Comes after CORS, so that a browser may read why. Health and metrics are always answered.
 */
export function refuseEarly(app: FastifyInstance, { overload, requests }: Refusers): void {
  app.addHook('onRequest', (request, reply, done) => {
    const hosts = hostsOf(request.raw);
    if (hosts > 1) return done(new ProblemError('BAD_REQUEST', SEVERAL_HOSTS));
    if (hosts === 0 && request.raw.httpVersion === '1.1') return done(new ProblemError('BAD_REQUEST', NO_HOST));
    // Fastify makes the route's options anew each time they are read.
    const { metering, annotate } = request.routeOptions.config;
    annotate?.(request, reply);
    if (metering === 'unmetered') return done();
    const shed = overload.refusalFor(request.caller.id, request.isShed);
    if (shed) {
      request.isShed = true;
      requests.release(request);
      if (shed.status === 429) reply.header('retry-after', RETRY_AFTER);
      return done(shed);
    }
    done(metering ? undefined : (request.keyProblem as Error | undefined));
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
