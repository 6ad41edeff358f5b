import { hash } from 'node:crypto';

/** A strong validator of a body (RFC 9110, section 8.8.3). It guards nothing, so the quicker hash does. */
export function etagOf(body: string): string {
  return `"${hash('sha1', body, 'base64url')}"`;
}

/**
 * Whether an `If-None-Match` names the tag (RFC 9110, section 13.1.2: weak comparison). A tag stands in a list with its
 * quotes, and has none within, so it need not be taken apart.
 */
export function isKnown(etag: string, ifNoneMatch: string | undefined): boolean {
  return ifNoneMatch !== undefined && (ifNoneMatch.trim() === '*' || ifNoneMatch.includes(etag));
}
