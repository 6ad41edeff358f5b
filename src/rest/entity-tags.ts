import { hash } from 'node:crypto';

/**
 * Matches one list element: an entity tag with its separator, or an empty element, which is ignored (RFC 9110, section
 * 5.6.1).
 */
const ELEMENT = /[ \t]*(?:(?:W\/)?("[!#-~\x80-\xff]*"))?[ \t]*(?:,|$)/y;

/** The end of a tag that a compressing proxy has changed, such as `-gzip"` (Apache, Caddy) or `;gzip"`. */
const ENCODED = /(?:--?|;)(?:gzip|br|zstd|deflate)"$/;

/** The strong ETag of a body (RFC 9110, section 8.8.3). A fast hash suffices: ETags have no security purpose. */
export function etagOf(body: string): string {
  return `"${hash('sha1', body, 'base64url')}"`;
}

/** Whether a client has the body with this ETag. A malformed `If-None-Match` is ignored: the client gets the body. */
export function isKnown(etag: string, ifNoneMatch: string | undefined, hasEncodings = false): boolean {
  const tags = ifNoneMatch === undefined ? undefined : parseEntityTags(ifNoneMatch, hasEncodings);
  return tags !== undefined && matchesAny(tags, etag);
}

/** The entity tags in a header, or `*` for any. */
type EntityTags = '*' | ReadonlySet<string>;

/**
 * Parses `If-Match` or `If-None-Match`; `undefined` if the header is malformed. A proxy that compresses a response puts `W/`
 * before its tag (nginx), or the encoding at its end. These changes are undone, so that the tags work behind the proxy too.
 * @param hasEncodings whether the gateway itself sends tags that end with an encoding. Then these endings are kept.
 */
export function parseEntityTags(header: string, hasEncodings = false): EntityTags | undefined {
  if (header.trim() === '*') return '*';
  const tags = new Set<string>();
  for (let at = 0; at < header.length; ) {
    ELEMENT.lastIndex = at;
    const [element, tag] = ELEMENT.exec(header) ?? [];
    if (!element) return undefined;
    if (tag) tags.add(tag).add(hasEncodings ? tag : tag.replace(ENCODED, '"'));
    at += element.length;
  }
  return tags.size ? tags : undefined;
}

/** @param etag the current tag of the resource; `undefined` if the resource does not exist. */
export function matchesAny(tags: EntityTags, etag: string | undefined): boolean {
  return etag !== undefined && (tags === '*' || tags.has(etag));
}
