import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest, onSendHookHandler } from 'fastify';
import type { Catalogue } from '../errors/codes';
import { helpLink, type Problem, retryAfterOf } from '../errors/errors';
import { type LimitStatus, limitProblem } from '../rate-limit/limit-status';
import { rateLimitHeaders } from '../rate-limit/rate-limit-headers';
import { errorAnswer } from './error-handling';
import type { RequestsInProgress } from './requests-in-progress';

/** The `Vary` header: the request headers that responses depend on. */
export const VARY = 'Accept, Authorization, Origin, X-API-Key';

/**
 * Headers of every response. A route may overwrite them. They tell browsers to treat the response as data only, and caches
 * not to store it (OWASP REST Security Cheat Sheet, "Security Headers").
 */
export const CONSTANT_HEADERS = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
  vary: VARY,
} as const;

/** `WWW-Authenticate` for a request without a key. Only requests with a key get an error code (RFC 6750, section 3). */
const CHALLENGE = 'Bearer realm="petstore"';
/** Headers about the content of a response. They are removed when an error replaces the content. */
const CONTENT_HEADERS = ['content-length', 'content-encoding', 'etag', 'last-modified'];
const { 'x-frame-options': FRAME_OPTIONS, 'cache-control': CACHE_CONTROL } = CONSTANT_HEADERS;
/** Finds error codes in a JSON body. Echoed input cannot match, since JSON escapes quotation marks within strings. */
const CODES = /"code":"(\w+)"/g;

export interface HeaderOptions {
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number;
  /** Tells whether each connection closes after its next response. */
  readonly requests: Pick<RequestsInProgress, 'isClosing'>;
  /** The error codes with a description that responses can link to. */
  readonly errors: Catalogue;
}

/** Sets the headers that all responses have. Routes may overwrite them. */
export function setConstantHeaders({ id }: FastifyRequest, reply: FastifyReply): void {
  reply.headers(CONSTANT_HEADERS).header('x-request-id', id);
}

/**
 * Charges the caller for the request, unless an operation has charged it already or the response is a server error. If the
 * caller has no quota left, a 429 replaces the response. This is an `onSend` hook because Fastify runs `onSend` hooks for
 * every response, including errors, preflights and pages.
 */
export const chargeRequests: onSendHookHandler<unknown> = (request, reply, payload, done) => {
  if (request.meter.isCharged) return done(null, payload);
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

/** Replaces a response by an error. @returns the new payload. */
export function replaceResponse(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  rejection: Problem,
): string {
  discard(payload);
  for (const name of CONTENT_HEADERS) reply.removeHeader(name);
  const { status, type, body } = errorAnswer(request, rejection);
  reply.code(status).type(type);
  reply.header('cache-control', CACHE_CONTROL).header('x-frame-options', FRAME_OPTIONS);
  // Publicly cacheable content has a shorter `Vary`. The error depends on the caller, so it needs the full `Vary`.
  if (!String(reply.getHeader('vary')).startsWith(VARY)) reply.header('vary', VARY);
  return JSON.stringify(body);
}

/**
 * Adds the headers that depend on the outcome: rate limits, `Retry-After`, `WWW-Authenticate`, a link to the error's page.
 */
export function addHeaders({ now, requests, errors }: HeaderOptions): onSendHookHandler<unknown> {
  return (request, reply, payload, done) => {
    const limitStatus = request.meter.status;
    const { statusCode } = reply;
    if (requests.isClosing) reply.header('connection', 'close');
    if (limitStatus) reply.headers(rateLimitHeaders(limitStatus, now()));
    // Health checks, pages and preflights succeed even if the caller is limited or banned. Then there is nothing to retry.
    if (limitStatus?.verdict !== 'allowed' && statusCode < 400) reply.removeHeader('retry-after');
    const problem = request.rejection ?? request.observation?.worst;
    const retryAfter = problem && retryAfterOf(problem);
    if (retryAfter !== undefined && !reply.hasHeader('retry-after')) reply.header('retry-after', retryAfter);
    if (statusCode >= 400) linkToHelp(reply, payload, errors);
    if (statusCode === 401) reply.header('www-authenticate', challengeOf(request));
    done(null, payload);
  };
}

function chargeOrPeek(request: FastifyRequest, reply: FastifyReply): LimitStatus | Promise<LimitStatus> {
  const { meter, method, route } = request;
  const { metering, isPublic } = route;
  const { statusCode } = reply;
  const isUnmetered = metering === 'unmetered' && (isPublic || statusCode < 400);
  if (isUnmetered || method === 'OPTIONS' || statusCode >= 500 || request.isShed) return meter.peek();
  const isFree = metering === 'free' || isPage(reply);
  return isFree ? meter.charge(0, 'page') : meter.charge(1);
}

function challengeOf({ keyProblem }: FastifyRequest): string {
  if (keyProblem === undefined) return CHALLENGE;
  const { message } = keyProblem as Error;
  return `${CHALLENGE}, error="invalid_token", error_description="${message.replace(/[^ !#-[\]-~]/g, '')}"`;
}

/** Destroys the stream of a payload that will not be sent. Otherwise the stream would stay open. */
function discard(payload: unknown): void {
  if (payload instanceof Readable) payload.destroy();
}

function isPage(reply: FastifyReply): boolean {
  return reply.statusCode === 200 && String(reply.getHeader('content-type')).startsWith('text/html');
}

/**
 * Adds a `Link` header with the URL of the error code's description if all codes in the body are the same. An `Error` object
 * has one code. The errors of a GraphQL response may have different codes.
 */
function linkToHelp(reply: FastifyReply, payload: unknown, errors: Catalogue): void {
  if (typeof payload !== 'string') return;
  const [code, ...others] = new Set(Array.from(payload.matchAll(CODES), ([, found]) => found));
  if (code === undefined || !errors.has(code) || others.length) return;
  const given = reply.getHeader('link');
  reply.header('link', given ? `${given}, ${helpLink(code)}` : helpLink(code));
}
