import type { IncomingHttpHeaders } from 'node:http';

/** What a request without a key may do, by its headers. */
export type AccessRule<Access> = (headers: IncomingHttpHeaders) => Access;

/** Names and addresses that no DNS server decides on (RFC 6761, section 6.3), with or without a port. */
const LOOPBACK = String.raw`(?:(?:[\w-]+\.)*localhost\.?|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?`;
const LOOPBACK_HOST = new RegExp(`^${LOOPBACK}$`, 'i');
const LOOPBACK_ORIGIN = new RegExp(`^https?://${LOOPBACK}$`, 'i');

/** Whether the request was addressed to this machine by a name of its own. */
function isForLoopback({ host = '' }: IncomingHttpHeaders): boolean {
  return LOOPBACK_HOST.test(host);
}

/**
 * The default on the embedded database bound to loopback: programs on this machine and pages served from it may write,
 * everybody else may read.
 * @param allowed `CORS_ORIGINS`: pages from there may write too. `*` names nobody.
 */
export function writesFromHere(allowed: readonly string[] = []): AccessRule<'read' | 'write'> {
  return (headers) => {
    const { origin } = headers;
    // That a connection comes from this machine says nothing about who made it: a page of any site runs in a browser here.
    // By DNS rebinding it gets around the same-origin policy: its own name, http://evil.example:4000, is made to resolve to
    // 127.0.0.1 once it is loaded, and the browser then takes this server for the page's own, so that no preflight is
    // needed and answers may be read. What such a page cannot change is the Host that it was loaded from; a page that
    // names this server as 127.0.0.1 instead cannot hide its Origin.
    if (!isForLoopback(headers)) return 'read';
    const isFromHere = origin === undefined || LOOPBACK_ORIGIN.test(origin) || allowed.includes(origin);
    return isFromHere ? 'write' : 'read';
  };
}
