import type { IncomingHttpHeaders } from 'node:http';

/** The access of a request without a key, by its headers. */
export type AccessRule<Access> = (headers: IncomingHttpHeaders) => Access;

/** Names and addresses that are not resolved by DNS (RFC 6761, section 6.3), with or without a port. */
const LOOPBACK = String.raw`(?:(?:[\w-]+\.)*localhost\.?|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?`;
const LOOPBACK_HOST = new RegExp(`^${LOOPBACK}$`, 'i');
const LOOPBACK_ORIGIN = new RegExp(`^https?://${LOOPBACK}$`, 'i');

function isForLoopback({ host = '' }: IncomingHttpHeaders): boolean {
  return LOOPBACK_HOST.test(host);
}

/**
 * The default on the embedded database bound to loopback: programs on this machine and pages served from it may write, other
 * requests may read.
 * @param allowed `CORS_ORIGINS`, whose pages may write too; `*` allows no page to write.
 */
export function writesFromHere(allowed: readonly string[] = []): AccessRule<'read' | 'write'> {
  return (headers) => {
    const { origin } = headers;
    // A connection from this machine may be made by a page of any site in a local browser. DNS rebinding gets around the
    // same-origin policy: the page's name, http://evil.example:4000, is made to resolve to 127.0.0.1 once the page is loaded.
    // The browser then sends its requests here without a preflight, and lets it read the responses. But such a page cannot
    // change the Host, and a page that calls 127.0.0.1 instead cannot hide its Origin.
    if (!isForLoopback(headers)) return 'read';
    const isFromHere = origin === undefined || LOOPBACK_ORIGIN.test(origin) || allowed.includes(origin);
    return isFromHere ? 'write' : 'read';
  };
}
