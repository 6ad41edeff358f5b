import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { problemOfStatus } from '../../errors/limit-problem';
import type { LimitStatus } from '../../rate-limit/limit-status';
import { rateLimitHeaders } from '../../rate-limit/rate-limit-headers';
import { errorAnswer } from '../error-handling';
import { linkToHelp } from './help-link';
import { protect } from './protective-headers';

/** `Retry-After` in seconds for a 503, and for a GraphQL response that contains one. */
const RETRY_AFTER = '5';
const CHALLENGE = 'Bearer realm="petstore"';
/** Headers that describe the original content; removed when a refusal replaces it. */
const CONTENT_HEADERS = ['content-length', 'content-encoding', 'etag', 'last-modified', 'cache-control'];

/**
 * Adds to every response the headers that all of them carry: request id, rate limits, protective headers. `onSend` is the
 * one hook that every response passes, including errors, preflights and pages. Requests not counted by then are counted
 * here, except server errors; a caller with no quota left gets its 429 in place of the response.
 * @param mayBeTls whether a trusted proxy can report that the client used TLS.
 */
export function completeResponses(app: FastifyInstance, now: () => number, mayBeTls: boolean): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    reply.header('x-request-id', request.id);
    const known = request.meter.status;
    if (known) return done(null, complete(reply, payload, known));
    const counted = count(request, reply);
    if (!(counted instanceof Promise)) return done(null, refuseOr(request, reply, payload, counted));
    counted.then((limitStatus) => {
      // If the request timed out and was answered meanwhile, that response stands.
      if (reply.raw.headersSent) discard(payload);
      else done(null, refuseOr(request, reply, payload, limitStatus));
    }, done);
  });

  function refuseOr(request: FastifyRequest, reply: FastifyReply, payload: unknown, limitStatus: LimitStatus): unknown {
    const refusal = problemOfStatus(limitStatus);
    if (!refusal || request.routeOptions.config.metering === 'unmetered') {
      return complete(reply, payload, limitStatus);
    }
    discard(payload);
    for (const name of CONTENT_HEADERS) reply.removeHeader(name);
    const { status, type, body } = errorAnswer(request, refusal);
    reply.code(status).type(type);
    return complete(reply, JSON.stringify(body), limitStatus);
  }

  function complete(reply: FastifyReply, payload: unknown, limitStatus: LimitStatus): unknown {
    if (limitStatus.verdict === 'banned' && reply.statusCode === 429) reply.request.isTurnedAway = true;
    reply.headers(rateLimitHeaders(limitStatus, now()));
    protect(reply, mayBeTls);
    const isUnavailable = reply.statusCode === 503 || reply.request.observation?.isUnavailable;
    if (isUnavailable && !reply.hasHeader('retry-after')) reply.header('retry-after', RETRY_AFTER);
    if (reply.statusCode >= 400) linkToHelp(reply, payload);
    if (reply.statusCode === 401) reply.header('www-authenticate', CHALLENGE);
    return payload;
  }
}

function count(request: FastifyRequest, reply: FastifyReply): LimitStatus | Promise<LimitStatus> {
  const { meter, method, routeOptions } = request;
  const { metering } = routeOptions.config;
  if (metering === 'unmetered' || reply.statusCode >= 500 || request.isShed) return meter.peek();
  const isFree = metering === 'free' || method === 'OPTIONS' || isPage(reply);
  return meter.take(isFree ? 0 : 1);
}

/** Closes the file of a response that will not be sent. */
function discard(payload: unknown): void {
  if (payload instanceof Readable) payload.destroy();
}

function isPage(reply: FastifyReply): boolean {
  return reply.statusCode === 200 && String(reply.getHeader('content-type')).startsWith('text/html');
}
