import type { OpenAPIV3 } from 'openapi-types';
import type { PreparedRoute } from '../prepared-route';
import { REQUEST_EXAMPLE, REQUEST_ID, type Schema } from './values';

type Header = OpenAPIV3.HeaderObject;

/** Describes a header that may be absent, even from the responses whose descriptions list it. */
const optional = (description: string, schema: Schema, example: string | number): Header => ({
  description,
  schema,
  example,
});
/** Describes a header that is always present in the responses whose descriptions list it. */
const header = (description: string, schema: Schema, example: string | number): Header => ({
  ...optional(description, schema, example),
  required: true,
});
const TEXT = { type: 'string', pattern: '^[ -~]*$', maxLength: 512 } as const;
/** A count, up to the largest Integer of a structured field (RFC 9651, section 3.3.1). */
const COUNT = { type: 'integer', format: 'int64', minimum: 0, maximum: 999_999_999_999_999 } as const;

export const HEADERS = {
  'X-RateLimit-Limit': header('The request limit in force', COUNT, 60),
  'X-RateLimit-Remaining': header('Requests left in the current window', COUNT, 59),
  'X-RateLimit-Reset': header('Unix timestamp at which the limit resets', COUNT, 1795251600),
  RateLimit: header(
    'Requests left in each window (draft-ietf-httpapi-ratelimit-headers)',
    TEXT,
    '"minute";r=59;t=60, "day";r=999;t=86400',
  ),
  'RateLimit-Policy': header(
    "The plan's windows (draft-ietf-httpapi-ratelimit-headers)",
    TEXT,
    '"minute";q=60;w=60, "day";q=1000;w=86400',
  ),
  'X-Request-Id': header('The id of the request: the id sent in this header, or a new id', REQUEST_ID, REQUEST_EXAMPLE),
  'Access-Control-Allow-Origin': optional(
    'The origin whose scripts may read the response, or `*`; omitted if scripts of the requesting origin may not read it',
    TEXT,
    '*',
  ),
  'Retry-After': optional(
    'Seconds to wait before retrying; on 409 only with `IDEMPOTENCY_IN_PROGRESS`',
    { ...COUNT, minimum: 1 },
    12,
  ),
  'WWW-Authenticate': header('How to authenticate', TEXT, 'Bearer realm="petstore"'),
  'Accept-Patch': optional(
    'The media types that the body of a PATCH may have (RFC 5789, section 3.1); omitted for other methods',
    TEXT,
    'application/json, application/merge-patch+json',
  ),
  ETag: header(
    'The version of the body, for `If-None-Match`; for a single resource also for `If-Match`',
    { ...TEXT, pattern: '^"[\\w-]{27}"$' },
    '"h5EdGu1QmHe4OkjsU292jNzSLfE"',
  ),
  Link: optional(
    'Links (RFC 8288): `rel="next"` leads to the next page of a list, `rel="monitor"` to what follows later, `rel="successor-version"` to the replacement of a deprecated operation, `rel="deprecation"` to its documentation, and `rel="help"` to the description of an error code',
    { ...TEXT, maxLength: 65_536 },
    '</pets?limit=2&cursor=NGU5Y2ZkM2MyIDI>; rel="next"',
  ),
  'Idempotent-Replayed': optional(
    'Set if the response repeats the response to the first request with the same `Idempotency-Key`',
    { type: 'string', enum: ['true'] },
    'true',
  ),
  Location: header('The path of the new resource, relative to this server (RFC 9110, section 10.2.2)', TEXT, '/pets/1'),
  'Cache-Control': header('Caches must revalidate before each use', TEXT, 'private, no-cache'),
  // These headers are optional, since responses lack them if the request is rejected before it reaches its route.
  Deprecation: optional(
    'When the operation was deprecated (RFC 9745)',
    { ...TEXT, pattern: '^@[0-9]+$' },
    '@1793491200',
  ),
  Sunset: optional('When the operation becomes unavailable (RFC 8594)', TEXT, 'Mon, 01 Nov 2027 00:00:00 GMT'),
  'X-Stability': optional(
    'Stability of the operation, or of the part of it that the request uses',
    { type: 'string', enum: ['experimental', 'beta'] },
    'beta',
  ),
} satisfies Record<string, OpenAPIV3.HeaderObject>;

export type HeaderName = keyof typeof HEADERS;

/** The headers that every response has. */
const ALWAYS: readonly HeaderName[] = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'RateLimit',
  'RateLimit-Policy',
  'X-Request-Id',
  'Access-Control-Allow-Origin',
];

/** References to the headers of a response: the headers that every response has, and the headers in `more`. */
export function headersOf(...more: HeaderName[]): Record<string, OpenAPIV3.ReferenceObject> {
  return Object.fromEntries([...ALWAYS, ...more].map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** The names of the deprecation and stability headers that all responses of an operation have. */
export function annotationHeaderNames({ deprecation, stability }: PreparedRoute): HeaderName[] {
  return [
    ...(deprecation ? (['Deprecation', 'Sunset', 'Link'] as const) : []),
    ...(stability ? (['X-Stability'] as const) : []),
  ];
}
