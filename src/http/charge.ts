import type { FastifyReply, FastifyRequest, onSendHookHandler } from 'fastify';
import { type LimitStatus, limitProblem } from '../rate-limit/limit-status';
import { discard, replaceResponse } from './replace-response';

/**
 * Charges the caller for the request, unless an operation has charged it already or the response is a server error. If the
 * caller has no quota left, a 429 replaces the response. This is an `onSend` hook because Fastify runs `onSend` hooks for
 * every response, including errors, preflights and pages.
 */
export const chargeRequests: onSendHookHandler<unknown> = (request, reply, payload, done) => {
  if (request.meter.isSettled) return done(null, payload);
  const charged = chargeOrPeek(request, reply);
  if (!(charged instanceof Promise)) return done(null, payloadOr429(request, reply, payload, charged));
  charged.then((limitStatus) => {
    // If the request exceeded its deadline while the charge was pending, it has already got 503. This payload is then dropped.
    if (reply.raw.headersSent) discard(payload);
    else done(null, payloadOr429(request, reply, payload, limitStatus));
  }, done);
};

function payloadOr429(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  limitStatus: LimitStatus,
): unknown {
  const rejection = limitProblem(limitStatus);
  const isAlwaysSent = request.route.isPublic || request.method === 'OPTIONS';
  return !rejection || isAlwaysSent ? payload : replaceResponse(request, reply, payload, rejection);
}

function chargeOrPeek(request: FastifyRequest, reply: FastifyReply): LimitStatus | Promise<LimitStatus> {
  const { meter, method, route } = request;
  const { metering, isPublic } = route;
  const { statusCode } = reply;
  const isUnmetered = metering === 'unmetered' && (isPublic || statusCode < 400);
  if (isUnmetered || method === 'OPTIONS' || statusCode >= 500) return meter.peek();
  return meter.charge(metering === 'page' || isPage(reply) ? 'page' : 'counted');
}

function isPage(reply: FastifyReply): boolean {
  return reply.statusCode === 200 && String(reply.getHeader('content-type')).startsWith('text/html');
}
