import type { FastifyReply } from 'fastify';

/**
 * Keep browsers from treating a response as anything but data, and caches from storing it for another caller (OWASP REST
 * Security Cheat Sheet, "Security Headers"). A header that a route sets itself takes precedence.
 */
export const PROTECTIVE_HEADERS: readonly (readonly [name: string, value: string])[] = [
  ['x-content-type-options', 'nosniff'],
  ['x-frame-options', 'DENY'],
  ['content-security-policy', "default-src 'none'; frame-ancestors 'none'"],
  ['referrer-policy', 'no-referrer'],
  ['cache-control', 'no-store'],
];

/** Request headers that a response depends on besides its URL. */
export const VARY = 'Accept, Authorization, Origin, X-API-Key';

/** One year; whether to include subdomains is not for this service to decide (RFC 6797). */
const HSTS = 'max-age=31536000';

/** @param mayBeTls whether a trusted proxy can report that the client used TLS. */
export function protect(reply: FastifyReply, mayBeTls: boolean): void {
  // Pages have policies of their own.
  if (!String(reply.getHeader('content-type')).startsWith('text/html')) {
    for (const [name, value] of PROTECTIVE_HEADERS) if (!reply.hasHeader(name)) reply.header(name, value);
  }
  // A publicly cacheable response is the same for every caller.
  if (!String(reply.getHeader('cache-control')).startsWith('public')) {
    // CORS has put `Origin` first.
    const more = String(reply.getHeader('vary') ?? '').replace(/^Origin(, )?/, '');
    reply.header('vary', more ? `${VARY}, ${more}` : VARY);
  }
  if (mayBeTls && reply.request.protocol === 'https') reply.header('strict-transport-security', HSTS);
}
