import type { FastifyReply, FastifyRequest, onSendHookHandler } from 'fastify';
import type { RequestsInProgress } from './requests-in-progress';

/**
 * Delays consecutive rejections on a connection, and finally closes the connection. Otherwise a client that ignores `Retry-After`
 * would take CPU time from other callers.
 */
export function paceRejections(requests: RequestsInProgress): onSendHookHandler<unknown> {
  return (request, reply, payload, done) => {
    const { socket } = request.raw;
    if (!isRejection(request, reply)) {
      requests.unpace(socket);
      return done(null, payload);
    }
    const ms = requests.paceRejection(socket, request.caller);
    if (ms === 0) return done(null, payload);
    requests.stopCounting(request.slot);
    if (ms < Infinity) return void setTimeout(done, ms, null, payload);
    reply.header('connection', 'close');
    done(null, payload);
  };
}

/** GraphQL may send a rejection with the HTTP status 200. */
function isRejection({ rejection, observer }: FastifyRequest, { statusCode }: FastifyReply): boolean {
  return statusCode === 429 || (rejection ?? observer?.worst)?.status === 429;
}
