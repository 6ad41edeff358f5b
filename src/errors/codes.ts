/** The meaning of an error code. The strings are inline Markdown. Their only markup is code spans in backticks. */
export interface ErrorEntry {
  /** The HTTP status. */
  readonly status: number;
  /** The cause. */
  readonly why: string;
  /** The action that a client should take. */
  readonly fix: string;
  /** An example of the error message. */
  readonly message: string;
  /** The values of `rule` in the details of this error, with their meanings. */
  readonly rules?: Readonly<Record<string, string>>;
  /** `Retry-After` in seconds, unless the error itself has a value. */
  readonly retryAfter?: number;
}

/**
 * Part of the `fix` of a rejection that is stored under the idempotency key of its request. For 24 hours, a repeated request
 * would only get the stored rejection.
 */
export const NEW_KEY = 'If you use idempotency keys, send the next attempt with a new `Idempotency-Key`.';

/** The gateway's own codes, sorted by status. Codes with status 200 come last. */
const TABLE = {
  BAD_REQUEST: {
    status: 400,
    why: 'The request is malformed: its body is not JSON, its URL cannot be decoded, or it is not HTTP.',
    fix: 'Correct the request. In GraphQL, also check the parameters `query`, `variables` and `operationName`.',
    message: 'The body is not valid JSON.',
  },
  GRAPHQL_PARSE_FAILED: {
    status: 400,
    why: 'The GraphQL document has a syntax error.',
    fix: 'Correct the document at the position in `locations`.',
    message: 'Syntax Error: Expected Name, found <EOF>.',
  },
  GRAPHQL_VALIDATION_FAILED: {
    status: 400,
    why: 'The GraphQL document is not valid against the schema, or does not contain the operation that `operationName` names.',
    fix: 'Compare the document with the schema (`/schema.graphql`). Code generators find this error at build time.',
    message: 'Cannot query field "colour" on type "Pet".',
  },
  OPERATION_TOO_COMPLEX: {
    status: 400,
    why: 'The operation exceeds a limit: on the size of its document, its estimated cost, the size of its response, or its counted root fields.',
    fix: 'Ask for shorter pages or fewer fields, or send several operations. The message names the limit.',
    message: 'The operation has an estimated cost of 80000; at most 50000 is allowed.',
  },
  BAD_USER_INPUT: {
    status: 400,
    why: 'Values have the wrong type or are out of bounds. `details` lists each invalid value with its `path` and the rule that it breaks.',
    fix: 'Correct the values that `details` names. You can send the corrected request with the same idempotency key.',
    message: 'name: must not be empty',
    rules: {
      REQUIRED: 'The value is absent or null.',
      TYPE: 'The value has another type, or does not have the form of an id, a date-time or an enum value.',
      TOO_SHORT: 'The text has fewer than `min` characters.',
      TOO_LONG: 'The text has more than `max` characters, or the list more than `max` items.',
      OUT_OF_RANGE: 'The number is less than `min` or greater than `max`.',
    },
  },
  UNAUTHENTICATED: {
    status: 401,
    why: 'A key or token is required, or the key or token in the request is not valid: for example, it is malformed, unknown, revoked or expired.',
    fix: 'Send a valid key as `X-API-Key`, or a valid key or token as `Authorization: Bearer`. The message says why a token is rejected. It says why a key is rejected only if the secret of the key is correct. Do not retry with the same key or token.',
    message: 'The API key expired on 2026-11-30T00:00:00.000Z.',
  },
  FORBIDDEN: {
    status: 403,
    why: 'The caller lacks the scope that the operation requires.',
    fix: 'Use a key or token with this scope. You can use the same idempotency key. If a GraphQL error has a `path`, only this field has not run; without a `path`, no part of the operation has run.',
    message: 'This operation needs an API key with the scope WRITE; this key does not have it.',
  },
  QUERY_NOT_IN_SAFELIST: {
    status: 403,
    why: 'This server runs only trusted documents, and this document is not in its list.',
    fix: 'Add the document to the manifest that the server is started with.',
    message: 'This server runs only trusted documents, and this document is not in its list.',
  },
  PERSISTED_QUERY_NOT_IN_LIST: {
    status: 404,
    why: 'No trusted document has this id.',
    fix: 'Add the document to the manifest, and deploy the manifest before the client.',
    message: 'No trusted document has the id "7c1d". Add the document to the manifest.',
  },
  NOT_FOUND: {
    status: 404,
    why: 'The resource or the path does not exist, or no longer exists.',
    fix: `Check the path, and look up the id in the list of the resources. ${NEW_KEY} A GraphQL query for a single object returns \`null\` instead, without an error.`,
    message: 'Pet 7 does not exist.',
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    why: 'The path does not support the method.',
    fix: 'Use a method in the `Allow` header. GraphQL mutations need POST.',
    message: 'PUT is not allowed on this path. Allowed: GET, HEAD, POST, OPTIONS.',
  },
  NOT_ACCEPTABLE: {
    status: 406,
    why: '`Accept` allows none of the media types of this path.',
    fix: 'Accept `application/json`. At `/graphql`, you can also accept `application/graphql-response+json`.',
    message: 'Responses are application/json.',
  },
  REQUEST_TIMEOUT: {
    status: 408,
    why: 'The request did not arrive in time.',
    fix: 'Send the request again. It has not run.',
    message: 'The request took too long to arrive.',
  },
  IDEMPOTENCY_IN_PROGRESS: {
    status: 409,
    why: 'A request with the same `Idempotency-Key` is still running.',
    fix: 'Retry with the same key after the time in `Retry-After`: you get the response to the first request, if it was stored.',
    message: 'A request with this Idempotency-Key is still running. Try again in 1 second.',
    retryAfter: 1,
  },
  PRECONDITION_FAILED: {
    status: 412,
    why: 'The resource does not match `If-Match` or `ifVersion`, usually because it has been changed, or it matches `If-None-Match`. The request had no effect.',
    fix: 'Read the resource again, apply the change to the new version, and send the new `ETag` as `If-Match`, or the new `version` as `ifVersion`.',
    message: 'Pet 7 does not match If-Match. Read it again.',
  },
  PAYLOAD_TOO_LARGE: {
    status: 413,
    why: 'The body is larger than 100 KiB.',
    fix: 'Send less data in one request. For a long GraphQL document, send its hash (persisted queries).',
    message: 'The body must not be larger than 100 KiB.',
  },
  URI_TOO_LONG: {
    status: 414,
    why: 'The URL is longer than 8 KiB.',
    fix: 'Ask for fewer values in one request, or send a GraphQL query by POST.',
    message: 'The URL must not be longer than 8192 bytes.',
  },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    why: 'The body is not JSON in UTF-8, or is compressed.',
    fix: 'Send `Content-Type: application/json`. PATCH also accepts `application/merge-patch+json`.',
    message: 'The body must be application/json.',
  },
  UNKNOWN_REFERENCE: {
    status: 422,
    why: 'The input refers to an object that does not exist. `details` names the field.',
    fix: `Create the missing object first, or correct the id. ${NEW_KEY}`,
    message: 'Category 7 does not exist.',
  },
  IDEMPOTENCY_MISMATCH: {
    status: 422,
    why: 'The `Idempotency-Key` was used for another request within the last 24 hours.',
    fix: 'Use a new key for each action. Use a key again only to retry the same request.',
    message: 'This Idempotency-Key was used for another request within the last 24 hours.',
  },
  RATE_LIMITED: {
    status: 429,
    why: "The request exceeds a quota of the plan, or a limit of the caller: on requests in progress, on subscriptions and streams, or on unread responses. Or the caller's IP address has sent too many unknown keys. The request has not run.",
    fix: 'Wait as long as `Retry-After` says. `X-RateLimit-Remaining` shows how many requests are left.',
    message: 'This plan allows 60 requests per minute. Try again in 12 seconds.',
    // Errors about a window have the time until it ends. Other limits may allow a request again within a second.
    retryAfter: 1,
  },
  KEY_BANNED: {
    status: 429,
    why: 'The caller sent too many requests over its limits, and is banned for a while. The message says when the ban ends.',
    fix: 'Wait as long as `Retry-After` says, and make the client back off after a `RATE_LIMITED` error.',
    message: 'Banned until 2026-11-23T10:01:00.000Z after too many rejected requests. Try again in 60 seconds.',
  },
  HEADERS_TOO_LARGE: {
    status: 431,
    why: 'The headers and the URL together exceed 16 KiB.',
    fix: 'Send fewer or shorter headers.',
    message: 'The headers are too large.',
  },
  INTERNAL_SERVER_ERROR: {
    status: 500,
    why: "An unexpected error occurred. The server's log has the cause, with the request id.",
    fix: 'Report the `requestId`. A mutation may have run: retry it with the same `Idempotency-Key`.',
    message: 'An unexpected error occurred. Report the request id to the operator of the server.',
  },
  SERVICE_UNAVAILABLE: {
    status: 503,
    why: 'The service is busy or stopping, its database is unavailable, or the request exceeded its time limit. If only writes fail, because the database is read-only or its disk is full, the message says so.',
    fix: 'Wait as long as `Retry-After` says. A mutation may have run: retry it with the same `Idempotency-Key`.',
    message: 'The service is busy, or its database is unavailable. Try again shortly.',
    retryAfter: 5,
  },
  PERSISTED_QUERY_NOT_FOUND: {
    status: 200,
    why: 'The server does not know a document with this hash (automatic persisted queries).',
    fix: 'Send the text and the hash together once. Clients with persisted queries do so automatically.',
    message: 'PersistedQueryNotFound',
  },
  PERSISTED_QUERY_NOT_SUPPORTED: {
    status: 200,
    why: 'This server runs only trusted documents, and does not store other documents.',
    fix: 'Send the id of a trusted document.',
    message: 'PersistedQueryNotSupported',
  },
} as const satisfies Record<string, ErrorEntry>;

/** An error code of the gateway, used in both GraphQL and REST. Domains add their own codes. */
export type ErrorCode = keyof typeof TABLE;

export const ERRORS: Readonly<Record<ErrorCode, ErrorEntry>> = TABLE;

export function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && Object.hasOwn(ERRORS, code);
}

/** All error codes with their meanings, sorted by HTTP status. Codes with status 200 come last. */
export type Catalogue = ReadonlyMap<string, ErrorEntry>;

/** Adds the codes of domains to the gateway's codes. */
export function catalogueOf(domain: Readonly<Record<string, ErrorEntry>>): Catalogue {
  const entries = Object.entries<ErrorEntry>({ ...domain, ...ERRORS });
  return new Map(entries.sort(([, a], [, b]) => rank(a) - rank(b)));
}

/** Groups codes by HTTP status, in the order of the catalogue. */
export function codesByStatus(catalogue: Catalogue, codes: Iterable<string> = catalogue.keys()): Map<number, string[]> {
  const given = new Set(codes);
  const statuses = new Map<number, string[]>();
  for (const [code, { status }] of catalogue)
    if (given.has(code)) statuses.set(status, [...(statuses.get(status) ?? []), code]);
  return statuses;
}

/** The values of `rule` in the details of errors, with their meanings. */
export function rulesOf(catalogue: Catalogue): ReadonlyMap<string, string> {
  return new Map([...catalogue.values()].flatMap(({ rules = {} }) => Object.entries(rules)));
}

function rank({ status }: ErrorEntry): number {
  return status < 400 ? 1000 : status;
}
