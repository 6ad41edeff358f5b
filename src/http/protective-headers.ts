import type { FastifyReply } from 'fastify';

/**
 * What keeps browsers from taking an answer for something else than data, and everybody from keeping what was one caller's
 * (OWASP REST Security Cheat Sheet, "Security Headers"). A route that sets one of them itself keeps its own.
 */
export const PROTECTIVE_HEADERS: readonly (readonly [name: string, value: string])[] = [
  ['x-content-type-options', 'nosniff'],
  ['x-frame-options', 'DENY'],
  ['content-security-policy', "default-src 'none'; frame-ancestors 'none'"],
  ['referrer-policy', 'no-referrer'],
  ['cache-control', 'no-store'],
];

/** What an answer depends on beside its URL. */
export const VARY = 'Accept, Authorization, Origin, X-API-Key';

/** For a year; whether that goes for subdomains is not for this service to say (RFC 6797). */
const HSTS = 'max-age=31536000';

/** @param mayBeTls whether a proxy that is believed can say that the client came by TLS. */
export function protect(reply: FastifyReply, mayBeTls: boolean): void {
  // Pages are for browsers, and have policies of their own.
  if (!String(reply.getHeader('content-type')).startsWith('text/html')) {
    for (const [name, value] of PROTECTIVE_HEADERS) if (!reply.hasHeader(name)) reply.header(name, value);
  }
  // What anybody may keep is the same for everybody.
  if (!String(reply.getHeader('cache-control')).startsWith('public')) {
    const vary = reply.getHeader('vary');
    reply.header('vary', vary === undefined || vary === 'Origin' ? VARY : `${VARY}, ${vary}`);
  }
  if (mayBeTls && reply.request.protocol === 'https') reply.header('strict-transport-security', HSTS);
}
