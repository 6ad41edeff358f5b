import type { IncomingHttpHeaders } from 'node:http';

/** Decides the access of a request without a key, from its headers. */
export type AccessRule<Access> = (headers: IncomingHttpHeaders) => Access;

/**
 * Matches loopback addresses and `localhost` names (RFC 6761, section 6.3), with or without a port. DNS does not resolve
 * `localhost` names.
 */
const LOOPBACK = String.raw`(?:(?:[\w-]+\.)*localhost\.?|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?`;
const LOOPBACK_HOST = new RegExp(`^${LOOPBACK}$`, 'i');
const LOOPBACK_ORIGIN = new RegExp(`^https?://${LOOPBACK}$`, 'i');

function isForLoopback({ host = '' }: IncomingHttpHeaders): boolean {
  return LOOPBACK_HOST.test(host);
}

/**
 * The default access of a gateway with the embedded database on a loopback address. Programs on this machine, and pages
 * served from it, may write. All other requests may only read.
 * @param allowed `CORS_ORIGINS`. Pages of the listed origins may write too. `*` does not let pages of other sites write.
 */
export function writesFromHere(allowed: readonly string[] = []): AccessRule<'read' | 'write'> {
  return (headers) => {
    const { origin } = headers;
    // A request from this machine may come from a page of any site in a local browser. Two attacks are detected:
    // - DNS rebinding: after the browser has loaded a page from http://evil.example:4000, that host name resolves to
    //   127.0.0.1. The browser treats this server as the page's own origin. But `Host` is still evil.example:4000, which is
    //   not a loopback name.
    // - The page sends a request to 127.0.0.1 directly. Then the browser sends the page's origin in `Origin`.
    if (!isForLoopback(headers)) return 'read';
    const isFromHere = origin === undefined || LOOPBACK_ORIGIN.test(origin) || allowed.includes(origin);
    return isFromHere ? 'write' : 'read';
  };
}
