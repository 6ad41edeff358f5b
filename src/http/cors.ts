import type { FastifyReply, onRequestHookHandler } from 'fastify';
import { IDEMPOTENT_REPLAYED } from '../graphql/idempotency';
import { RATE_LIMIT_HEADER_NAMES } from '../rate-limit/rate-limit-headers';
import { VARY } from './common-headers';

/** Response headers that scripts of other origins may read. */
const EXPOSED_HEADERS = [
  ...RATE_LIMIT_HEADER_NAMES,
  'ETag, Link, Location, X-Request-Id, Deprecation, Sunset, X-Stability, WWW-Authenticate, Accept-Patch',
  IDEMPOTENT_REPLAYED,
].join(', ');

const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE';
/** How long a browser may cache the response to a preflight, in seconds. */
const MAX_AGE = '7200';

/** The CORS headers of every response. @param origin the `Origin` of the request; an empty text without the header. */
export type CorsHeaders = (origin: string) => Record<string, string>;

/**
 * The CORS headers (Fetch standard, section 3.3), without `Access-Control-Allow-Credentials`.
 * @param origins the allowed origins; `undefined` allows any.
 */
export function corsHeadersFor(origins: readonly string[] | undefined): CorsHeaders {
  const exposed = { 'access-control-expose-headers': EXPOSED_HEADERS };
  const forAny = { 'access-control-allow-origin': '*', ...exposed };
  if (!origins || origins.includes('*')) return () => forAny;
  return (origin) => (origins.includes(origin) ? { 'access-control-allow-origin': origin, ...exposed } : exposed);
}

/** Adds the CORS headers. The OPTIONS routes answer preflight requests. */
export function allowOrigins(corsHeaders: CorsHeaders): onRequestHookHandler {
  return ({ headers, method }, reply, done) => {
    reply.headers(corsHeaders(headers.origin ?? ''));
    if (method === 'OPTIONS') allowMethods(reply, headers['access-control-request-headers']);
    done();
  };
}

/** @param headers the value of `Access-Control-Request-Headers`. All of these request headers are allowed. */
function allowMethods(reply: FastifyReply, headers: string | undefined): void {
  reply.header('access-control-allow-methods', METHODS).header('access-control-max-age', MAX_AGE);
  if (headers !== undefined) reply.header('access-control-allow-headers', headers);
  reply.header('vary', `${VARY}, Access-Control-Request-Headers`);
}
