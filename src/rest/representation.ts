import { hash } from 'node:crypto';

/** Media types that the body of a PATCH may have: JSON, and a merge patch (RFC 7396). */
export const PATCH_TYPES = ['application/json', 'application/merge-patch+json'] as const;

export const JSON_TYPE = 'application/json; charset=utf-8';

/** The strong ETag of a body (RFC 9110, section 8.8.3). A fast hash suffices: ETags have no security purpose. */
export function etagOf(body: string): string {
  return `"${hash('sha1', body, 'base64url')}"`;
}

/**
 * Whether an `If-None-Match` header contains the ETag, with weak comparison (RFC 9110, section 13.1.2). Searching the text
 * suffices, since ETags are quoted and contain no quotation marks.
 */
export function isKnown(etag: string, ifNoneMatch: string | undefined): boolean {
  return ifNoneMatch !== undefined && (ifNoneMatch.trim() === '*' || ifNoneMatch.includes(etag));
}
