export const JSON_TYPE = 'application/json';

/** The `Content-Type` of JSON responses. */
export const JSON_UTF8 = 'application/json; charset=utf-8';

/** Media types that the body of a PATCH may have: JSON, and a merge patch (RFC 7396). */
export const PATCH_TYPES = [JSON_TYPE, 'application/merge-patch+json'] as const;

export const EVENT_STREAM = 'text/event-stream';
