import type { OpenAPIV3 } from 'openapi-types';
import type { PreparedOperation } from '../prepare';
import { REQUEST_ID } from './values';

type Header = OpenAPIV3.HeaderObject;
type Schema = OpenAPIV3.SchemaObject;

/** One that stands on some of the answers that may have it. */
const optional = (description: string, schema: Schema, example: string | number): Header => ({
  description,
  schema,
  example,
});
/** One that stands on every answer that is said to have it. */
const header = (description: string, schema: Schema, example: string | number): Header => ({
  ...optional(description, schema, example),
  required: true,
});
const TEXT = { type: 'string', pattern: '^[ -~]*$', maxLength: 512 } as const;
/** The largest Integer of a structured field (RFC 9651, section 3.3.1). */
const COUNT = { type: 'integer', format: 'int64', minimum: 0, maximum: 999_999_999_999_999 } as const;

/** Headers of answers. */
export const HEADERS = {
  'X-RateLimit-Limit': header('The request limit in force', COUNT, 60),
  'X-RateLimit-Remaining': header('Requests left in the current window', COUNT, 59),
  'X-RateLimit-Reset': header('Unix timestamp at which the limit resets', COUNT, 1795251600),
  RateLimit: header(
    'What is left of each window (draft-ietf-httpapi-ratelimit-headers)',
    TEXT,
    '"minute";r=59;t=60, "day";r=999;t=86400',
  ),
  'RateLimit-Policy': header(
    "The plan's windows (draft-ietf-httpapi-ratelimit-headers)",
    TEXT,
    '"minute";q=60;w=60, "day";q=1000;w=86400',
  ),
  'X-Request-Id': header(
    'The id of the request: the one that came in this header, or a new one',
    REQUEST_ID,
    '5f0c7f0e-6f1c-4f7e-9a55-0d6d2b8c1a11',
  ),
  'Access-Control-Allow-Origin': optional(
    'The origin whose scripts may read the answer, or any; left out where the origin that asks may not',
    TEXT,
    '*',
  ),
  'Retry-After': header('Seconds to wait before the next try', { ...COUNT, minimum: 1 }, 12),
  'WWW-Authenticate': header('How to authenticate', TEXT, 'Bearer realm="petstore"'),
  ETag: header(
    'Validator of the body, for `If-None-Match`',
    { ...TEXT, pattern: '^"[\\w-]{27}"$' },
    '"h5EdGu1QmHe4OkjsU292jNzSLfE"',
  ),
  Link: optional(
    'The next page of a list with `rel="next"` (RFC 8288), where there is one; what to use instead of a deprecated operation with `rel="successor-version"`',
    { ...TEXT, maxLength: 65_536 },
    '</pets?limit=2&cursor=NGU5Y2ZkM2MyIDI>; rel="next"',
  ),
  'Idempotent-Replayed': optional(
    'On an answer that was given before, to the first request with the same `Idempotency-Key`',
    { type: 'string', enum: ['true'] },
    'true',
  ),
  Location: header('Where the new resource stands', TEXT, '/pets/1'),
  'Cache-Control': header('Copies are good for as long as they are asked about', TEXT, 'no-cache'),
  // Who is refused before the route is known to serve it is not told.
  Deprecation: optional(
    'Since when the operation is deprecated (RFC 9745)',
    { ...TEXT, pattern: '^@[0-9]+$' },
    '@1793491200',
  ),
  Sunset: optional('Until when the operation answers (RFC 8594)', TEXT, 'Mon, 01 Nov 2027 00:00:00 GMT'),
  'X-Stability': optional(
    'How settled the operation is, or what of it was used',
    { type: 'string', enum: ['experimental', 'beta'] },
    'beta',
  ),
} satisfies Record<string, OpenAPIV3.HeaderObject>;

export type HeaderName = keyof typeof HEADERS;

/** What every answer carries. */
const ALWAYS: readonly HeaderName[] = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'RateLimit',
  'RateLimit-Policy',
  'X-Request-Id',
  'Access-Control-Allow-Origin',
];

/** The headers of an answer: those that every answer carries, and `more`. */
export function headersOf(...more: HeaderName[]): Record<string, OpenAPIV3.ReferenceObject> {
  return Object.fromEntries(
    [...ALWAYS, ...more].map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  );
}

/** The headers that tell of an operation, on all of its answers: how far it is settled, and how long it answers. */
export function markersOf({ runsOnce, deprecation, stability }: PreparedOperation): HeaderName[] {
  return [
    ...(deprecation ? (['Deprecation', 'Sunset', 'Link'] as const) : []),
    ...(stability || runsOnce ? (['X-Stability'] as const) : []),
  ];
}
