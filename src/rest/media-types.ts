import Negotiator from 'negotiator';

export const JSON_TYPE = 'application/json';

/** The `Content-Type` of JSON responses. */
export const JSON_UTF8 = 'application/json; charset=utf-8';

/** Media types that the body of a PATCH may have: JSON, and a merge patch (RFC 7396). */
export const PATCH_TYPES = [JSON_TYPE, 'application/merge-patch+json'] as const;

export const EVENT_STREAM = 'text/event-stream';

/**
 * The media type that an `Accept` prefers (RFC 9110, section 12.5.1); `undefined` if it accepts none of them.
 * @param types the media types, from which an absent or empty `Accept` gets the first.
 */
export function acceptedType(accept: string | undefined, types: readonly string[]): string | undefined {
  // Most clients send one of these values.
  if (!accept || accept === '*/*' || accept === types[0]) return types[0];
  return new Negotiator({ headers: { accept } }).mediaType([...types]);
}
