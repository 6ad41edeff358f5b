import type { IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import { type Problem, ProblemError } from '../errors/errors';
import { type LimitStatus, limitProblem } from '../rate-limit/limit-status';
import type { Limiter } from '../rate-limit/limiter';
import { TOO_MANY_LOOK_UPS } from '../rate-limit/look-ups';
import { sendProblem } from './error-handling';
import { presentedKey } from './identification';
import { isWebSocket } from './live/upgrades';
import type { RequestsInProgress } from './requests-in-progress';

const SEVERAL_HOSTS = 'A request must have one Host header.';
const NO_HOST = 'An HTTP/1.1 request must have a Host header.';

/** Counts requests towards the limit of their caller, or rejects them, before their body is read. */
export function rejectEarly(requests: RequestsInProgress, limits: Limiter): onRequestHookHandler {
  return (request, reply, done) => {
    const continueWith = (ban: LimitStatus | undefined) => {
      if (ban) return sendBan(request, reply, ban, requests);
      let rejection: Error | undefined;
      try {
        countAndCheck(request, reply, requests);
      } catch (error) {
        rejection = error as Error;
      }
      done(rejection);
    };
    const ban = isSubjectToBans(request) ? limits.recordKnownBan(request.caller) : undefined;
    if (ban instanceof Promise) ban.then(continueWith, done);
    else continueWith(ban);
  };
}

/**
 * Whether a ban of the caller rejects the request at this stage. Pages, health checks and preflights are not rejected. Routes
 * with `metering` check bans when the response is charged.
 */
function isSubjectToBans(request: FastifyRequest): boolean {
  const { route, keyProblem, isOverloaded, method } = request;
  return (
    !route.metering && keyProblem === undefined && !isOverloaded && method !== 'OPTIONS' && !route.ignoresBan?.(request)
  );
}

function sendBan(request: FastifyRequest, reply: FastifyReply, ban: LimitStatus, requests: RequestsInProgress): void {
  requests.stopCounting(request.slot);
  request.meter.settle(ban);
  sendProblem(request, reply, limitProblem(ban) as Problem);
}

/**
 * Counts the request towards the limit of its caller, then runs the checks of its route.
 * Health checks, metrics and OPTIONS are not rejected because of load: a browser reports a rejected preflight only as a
 * network error.
 * @throws the error if a request is rejected early. The reasons are: no `Host` header or several (400), too many unknown keys
 * from the client's address (429), overload (503), too many requests of the caller in progress (429), a wrong key (401), or a
 * rejection by the route (401, 403, 405, 406).
 */
function countAndCheck(request: FastifyRequest, reply: FastifyReply, requests: RequestsInProgress): void {
  const { raw, slot, caller, keyProblem } = request;
  const { metering, check } = request.route;
  const hosts = countHosts(raw);
  if (hosts > 1) throw new ProblemError('BAD_REQUEST', SEVERAL_HOSTS);
  if (hosts === 0 && raw.httpVersion === '1.1') throw new ProblemError('BAD_REQUEST', NO_HOST);
  if (keyProblem === TOO_MANY_LOOK_UPS) throw TOO_MANY_LOOK_UPS;
  if (metering === 'unmetered' || request.method === 'OPTIONS') {
    check?.(request, reply);
    return;
  }
  const holder = isUnidentified(request) ? { id: `unidentified ${caller.id}` } : caller;
  const rejection = requests.countForCaller(slot, holder, request.isOverloaded);
  if (rejection) {
    request.meter.waive();
    throw rejection;
  }
  if (keyProblem !== undefined && !metering) throw keyProblem;
  check?.(request, reply);
}

/**
 * Whether the caller is not known yet: a key may follow in `connection_init`. Other requests of the address then do not count
 * towards the limit on this request.
 */
function isUnidentified(request: FastifyRequest): boolean {
  return request.headers.upgrade !== undefined && isWebSocket(request.raw) && presentedKey(request) === undefined;
}

/**
 * The number of `Host` headers. A request with several `Host` headers is rejected (RFC 9112, section 3.2). Node would use
 * the first header, but a proxy in front may have used the last.
 */
function countHosts({ rawHeaders }: IncomingMessage): number {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    if (name.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  return count;
}
