import { hash } from 'node:crypto';

/** Media types that the body of a PATCH may have: JSON, and a merge patch (RFC 7396). */
export const PATCH_TYPES = ['application/json', 'application/merge-patch+json'] as const;

export const JSON_TYPE = 'application/json; charset=utf-8';

/** A strong validator of a body (RFC 9110, section 8.8.3). It need not be cryptographically strong, so the hash is a fast one. */
export function etagOf(body: string): string {
  return `"${hash('sha1', body, 'base64url')}"`;
}

/**
 * Whether an `If-None-Match` names the tag (RFC 9110, section 13.1.2: weak comparison). Tags are quoted and contain no
 * quotes, so the list need not be parsed.
 */
export function isKnown(etag: string, ifNoneMatch: string | undefined): boolean {
  return ifNoneMatch !== undefined && (ifNoneMatch.trim() === '*' || ifNoneMatch.includes(etag));
}
