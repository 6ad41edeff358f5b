import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { problemOfStanding } from '../graphql/limits';
import { rateLimitHeaders } from '../rate-limit/headers';
import type { Standing } from '../rate-limit/standing';
import { problemBody } from './problems';
import { protect } from './protective-headers';

/** Seconds that a client should wait after a 503, or after an answer of GraphQL that holds one. */
const RETRY_AFTER = '5';
const CHALLENGE = 'Bearer realm="petstore"';
/** What an answer says of its content; it does not hold for what is sent instead. */
const CONTENT_HEADERS = ['content-length', 'content-encoding', 'etag', 'last-modified', 'cache-control'];

/**
 * Puts on every answer what every answer carries: the request id and where the caller stands. `onSend` is the one hook
 * that they all pass, errors, preflights and pages too. What has not been counted by then is counted here, unless it failed
 * by our own fault; a caller that has nothing left gets its 429 instead of the answer.
 * @param mayBeTls whether a proxy that is believed can say that the client came by TLS.
 */
export function completeAnswers(app: FastifyInstance, now: () => number, mayBeTls: boolean): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    reply.header('x-request-id', request.id);
    const known = request.meter.standing;
    if (known) return done(null, complete(reply, payload, known));
    const counted = count(request, reply);
    if (!(counted instanceof Promise)) return done(null, refuseOr(request, reply, payload, counted));
    counted.then((standing) => {
      // What was answered meanwhile, since the time was up, is the answer.
      if (reply.raw.headersSent) discard(payload);
      else done(null, refuseOr(request, reply, payload, standing));
    }, done);
  });

  function refuseOr(
    request: FastifyRequest,
    reply: FastifyReply,
    payload: unknown,
    standing: Standing,
  ): unknown {
    const refusal = problemOfStanding(standing);
    if (!refusal || request.routeOptions.config.metering === 'unmetered') {
      return complete(reply, payload, standing);
    }
    discard(payload);
    for (const name of CONTENT_HEADERS) reply.removeHeader(name);
    reply.code(refusal.status).type('application/json; charset=utf-8');
    return complete(reply, JSON.stringify(problemBody(request, refusal)), standing);
  }

  function complete(reply: FastifyReply, payload: unknown, standing: Standing): unknown {
    reply.headers(rateLimitHeaders(standing, now()));
    protect(reply, mayBeTls);
    const isUnavailable = reply.statusCode === 503 || reply.request.observation?.isUnavailable;
    if (isUnavailable && !reply.hasHeader('retry-after')) reply.header('retry-after', RETRY_AFTER);
    if (reply.statusCode === 401) reply.header('www-authenticate', CHALLENGE);
    return payload;
  }
}

function count(request: FastifyRequest, reply: FastifyReply): Standing | Promise<Standing> {
  const { meter, method, raw, routeOptions } = request;
  const { metering } = routeOptions.config;
  // A socket that has been ended: its request turned out not to be HTTP, and was answered and counted as such.
  const isCounted = raw.socket.writableEnded;
  if (metering === 'unmetered' || isCounted || reply.statusCode >= 500) return meter.peek();
  const isFree = metering === 'free' || method === 'OPTIONS' || isPage(reply);
  return meter.take(isFree ? 0 : 1);
}

/** A file that was to be sent would stay open. */
function discard(payload: unknown): void {
  if (payload instanceof Readable) payload.destroy();
}

function isPage(reply: FastifyReply): boolean {
  return reply.statusCode === 200 && String(reply.getHeader('content-type')).startsWith('text/html');
}
