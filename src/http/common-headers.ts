import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest, onSendHookHandler } from 'fastify';
import type { Catalogue } from '../errors/codes';
import { helpLink } from '../errors/errors';
import { limitProblem } from '../rate-limit/limit-problem';
import type { LimitStatus } from '../rate-limit/limit-status';
import { rateLimitHeaders } from '../rate-limit/rate-limit-headers';
import { errorAnswer } from './error-handling';
import type { RequestsInProgress } from './requests-in-progress';

/** The request headers that responses depend on. */
export const VARY = 'Accept, Authorization, Origin, X-API-Key';

/**
 * Headers that make browsers treat a response as data only, and keep caches from storing it for another caller (OWASP REST
 * Security Cheat Sheet, "Security Headers"). Headers that a route sets take precedence.
 */
export const CONSTANT_HEADERS = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
  vary: VARY,
} as const;

/** `Retry-After` in seconds for a 503, and for a GraphQL response with such an error. */
const RETRY_AFTER = '5';
/** RFC 6750, section 3: the error is added only if the request has a token. */
const CHALLENGE = 'Bearer realm="petstore"';
const INVALID_TOKEN = `${CHALLENGE}, error="invalid_token"`;
/** Headers that describe the original content; removed when a rejection replaces it. */
const CONTENT_HEADERS = ['content-length', 'content-encoding', 'etag', 'last-modified'];
const { 'x-frame-options': FRAME_OPTIONS, 'cache-control': CACHE_CONTROL } = CONSTANT_HEADERS;
/** The error codes in a body. Quotation marks within JSON strings are escaped, so input that is repeated cannot match. */
const CODES = /"code":"(\w+)"/g;

export interface HeaderOptions {
  /** Milliseconds of the Unix epoch. */
  readonly now: () => number;
  /** Whether connections close with their responses. */
  readonly requests: Pick<RequestsInProgress, 'isClosing'>;
  /** The codes that have a description to link to. */
  readonly errors: Catalogue;
}

/** Sets the headers of all responses, which routes may overwrite. */
export function setConstantHeaders({ id }: FastifyRequest, reply: FastifyReply): void {
  reply.headers(CONSTANT_HEADERS).header('x-request-id', id);
}

/**
 * Charges a request that no operation has charged, except for server errors. `onSend` is the one hook that every response
 * passes, including errors, preflights and pages. A caller with no quota left gets 429 in place of the response.
 */
export const chargeRequests: onSendHookHandler<unknown> = (request, reply, payload, done) => {
  if (request.meter.status) return done(null, payload);
  const charged = charge(request, reply);
  if (!(charged instanceof Promise)) return done(null, payloadOr429(request, reply, payload, charged));
  charged.then((limitStatus) => {
    // If the request was over its deadline meanwhile, the response with 503 stands.
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
  if (!rejection || request.route.metering === 'unmetered') return payload;
  discard(payload);
  for (const name of CONTENT_HEADERS) reply.removeHeader(name);
  const { status, type, body } = errorAnswer(request, rejection);
  reply.code(status).type(type);
  reply.header('cache-control', CACHE_CONTROL).header('x-frame-options', FRAME_OPTIONS);
  // Publicly cacheable content names fewer headers.
  if (!String(reply.getHeader('vary')).startsWith(VARY)) reply.header('vary', VARY);
  return JSON.stringify(body);
}

/** Adds the headers that depend on the response: rate limits, `Retry-After`, links. */
export function addHeaders({ now, requests, errors }: HeaderOptions): onSendHookHandler<unknown> {
  return (request, reply, payload, done) => {
    const limitStatus = request.meter.status;
    const { statusCode } = reply;
    if (requests.isClosing) reply.header('connection', 'close');
    if (limitStatus) reply.headers(rateLimitHeaders(limitStatus, now()));
    // Health checks are answered in any case, and pages and preflights during a ban.
    if (limitStatus?.verdict !== 'allowed' && statusCode < 400) reply.removeHeader('retry-after');
    const isUnavailable = statusCode === 503 || request.observation?.worst?.status === 503;
    if (isUnavailable && !reply.hasHeader('retry-after')) reply.header('retry-after', RETRY_AFTER);
    if (statusCode >= 400) linkToHelp(reply, payload, errors);
    if (statusCode === 401) reply.header('www-authenticate', challengeOf(request));
    done(null, payload);
  };
}

function charge(request: FastifyRequest, reply: FastifyReply): LimitStatus | Promise<LimitStatus> {
  const { meter, method, route } = request;
  const { metering } = route;
  if (metering === 'unmetered' || reply.statusCode >= 500 || request.isShed) return meter.peek();
  const isFree = metering === 'free' || method === 'OPTIONS' || isPage(reply);
  return isFree ? meter.take(0, 'page') : meter.take(1);
}

function challengeOf({ keyProblem }: FastifyRequest): string {
  return keyProblem === undefined ? CHALLENGE : INVALID_TOKEN;
}

/** Closes the file or stream of a response that is not sent. */
function discard(payload: unknown): void {
  if (payload instanceof Readable) payload.destroy();
}

function isPage(reply: FastifyReply): boolean {
  return reply.statusCode === 200 && String(reply.getHeader('content-type')).startsWith('text/html');
}

/**
 * Adds a link to the description of the error code: to `Error` objects, and to GraphQL responses whose errors all have the
 * same code.
 */
function linkToHelp(reply: FastifyReply, payload: unknown, errors: Catalogue): void {
  if (typeof payload !== 'string') return;
  const [code, ...others] = new Set(Array.from(payload.matchAll(CODES), ([, found]) => found));
  if (code === undefined || !errors.has(code) || others.length) return;
  const given = reply.getHeader('link');
  reply.header('link', given ? `${given}, ${helpLink(code)}` : helpLink(code));
}
