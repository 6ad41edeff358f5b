import type { FastifyReply, FastifyRequest, onSendHookHandler } from 'fastify';
import type { Catalogue } from '../errors/codes';
import { helpLink, retryAfterOf } from '../errors/errors';
import { rateLimitHeaders } from '../rate-limit/rate-limit-headers';
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

/** `WWW-Authenticate` for a request without a key. It has no `error` parameter (RFC 6750, section 3.1). */
const CHALLENGE = 'Bearer realm="petstore"';
/** Finds error codes in a JSON body. Echoed input cannot match, since JSON escapes quotation marks within strings. */
const CODES = /"code":"(\w+)"/g;

interface HeaderOptions {
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
    const problem = request.rejection ?? request.observer?.worst;
    const retryAfter = problem && retryAfterOf(problem);
    if (retryAfter !== undefined && !reply.hasHeader('retry-after')) reply.header('retry-after', retryAfter);
    if (statusCode >= 400) linkToHelp(reply, payload, errors);
    if (statusCode === 401) reply.header('www-authenticate', challengeOf(request));
    done(null, payload);
  };
}

function challengeOf({ keyProblem }: FastifyRequest): string {
  if (keyProblem === undefined) return CHALLENGE;
  const { message } = keyProblem as Error;
  return `${CHALLENGE}, error="invalid_token", error_description="${message.replace(/[^ !#-[\]-~]/g, '')}"`;
}

/**
 * Adds a `Link` header with the URL of the error code's description if all codes in the body are the same. A REST error body
 * (OpenAPI schema `Error`) has one code. The errors of a GraphQL response may have different codes.
 */
function linkToHelp(reply: FastifyReply, payload: unknown, errors: Catalogue): void {
  if (typeof payload !== 'string') return;
  const [code, ...others] = new Set(Array.from(payload.matchAll(CODES), ([, found]) => found));
  if (code === undefined || !errors.has(code) || others.length) return;
  const given = reply.getHeader('link');
  reply.header('link', given ? `${given}, ${helpLink(code)}` : helpLink(code));
}
