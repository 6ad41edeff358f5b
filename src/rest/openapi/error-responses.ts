import { STATUS_CODES } from 'node:http';
import type { OpenAPIV3 } from 'openapi-types';
import { type Catalogue, codesByStatus, ERRORS, type ErrorCode } from '../../errors/codes';
import type { PreparedRoute } from '../prepared-route';
import { annotationHeaderNames, HEADERS, type HeaderName, headersOf } from './response-headers';
import { REQUEST_EXAMPLE, ref, type Schema } from './values';

type Response = OpenAPIV3.ResponseObject;

const OTHER = 'OtherError';
const RETRY_AFTER = { ...HEADERS['Retry-After'], required: false };

const EXTRA_HEADERS: Readonly<Record<number, HeaderName>> = {
  401: 'WWW-Authenticate',
  404: 'Idempotent-Replayed',
  409: 'Idempotent-Replayed',
  415: 'Accept-Patch',
  422: 'Idempotent-Replayed',
  429: 'Retry-After',
  503: 'Retry-After',
};

/** Error codes that every operation can return. */
const ALWAYS: readonly ErrorCode[] = [
  'BAD_REQUEST',
  'BAD_USER_INPUT',
  'UNAUTHENTICATED',
  'NOT_ACCEPTABLE',
  'RATE_LIMITED',
  'KEY_BANNED',
  'INTERNAL_SERVER_ERROR',
  'SERVICE_UNAVAILABLE',
];

/** Error codes of requests that are rejected before they reach an operation. */
const HTTP_ERRORS: readonly ErrorCode[] = ['REQUEST_TIMEOUT', 'URI_TOO_LONG', 'HEADERS_TOO_LARGE'];

/**
 * All error codes that an operation can return: general codes, codes of operations of this kind, and codes that are specific
 * to the operation.
 */
function possibleErrors(operation: PreparedRoute): ReadonlySet<string> {
  const { errors, inputs, isConditional, payload, acceptsIdempotencyKey, scope } = operation;
  const ofKind: [boolean, ...ErrorCode[]][] = [
    [scope !== undefined, 'FORBIDDEN'],
    [inputs.path.size > 0, 'NOT_FOUND'],
    [payload.isPage, 'OPERATION_TOO_COMPLEX'],
    [inputs.body !== undefined, 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'],
    [isConditional, 'PRECONDITION_FAILED'],
    [acceptsIdempotencyKey, 'IDEMPOTENCY_IN_PROGRESS', 'IDEMPOTENCY_MISMATCH'],
  ];
  return new Set([...ALWAYS, ...errors, ...ofKind.flatMap(([isGiven, ...codes]) => (isGiven ? codes : []))]);
}

/** Error codes by their status. */
export type Codes = ReadonlyMap<number, readonly string[]>;

/**
 * The error codes of the shared responses, by status. For each status, the shared response has the codes of the operation
 * that has the fewest codes with this status. An operation with different codes gets separate responses. Operations with
 * deprecation or stability headers always get separate responses, so they are ignored here.
 */
export function commonCodes(operations: readonly PreparedRoute[], catalogue: Catalogue): Codes {
  const common = new Map<number, readonly string[]>();
  for (const operation of operations.filter((each) => !annotationHeaderNames(each).length)) {
    for (const [status, codes] of codesByStatus(catalogue, possibleErrors(operation))) {
      const known = common.get(status);
      if (!known || codes.length < known.length) common.set(status, codes);
    }
  }
  return new Map([...common].sort(([a], [b]) => a - b));
}

/** The error responses that operations share, by name, such as `NotFound`. */
export function sharedResponses(common: Codes, catalogue: Catalogue): Record<string, Response> {
  const shared = [...common].map(([status, codes]) => [nameOf(status), errorResponse(codes, catalogue)]);
  return { ...Object.fromEntries(shared), [OTHER]: otherError(catalogue) };
}

/** The error responses of an operation, by status. */
export function errorResponsesOf(operation: PreparedRoute, common: Codes, catalogue: Catalogue) {
  const annotations = annotationHeaderNames(operation);
  const responses = [...codesByStatus(catalogue, possibleErrors(operation))].map(([status, codes]) => {
    const isShared = !annotations.length && String(common.get(status)) === String(codes);
    return [status, isShared ? responseRef(nameOf(status)) : errorResponse(codes, catalogue, annotations)];
  });
  return { ...Object.fromEntries(responses), default: responseRef(OTHER) };
}

/** @param codes error codes, all with the same HTTP status. */
function errorResponse(
  codes: readonly string[],
  catalogue: Catalogue,
  annotations: readonly HeaderName[] = [],
): Response {
  const entries = codes.flatMap((code) => catalogue.get(code) ?? []);
  const extra = EXTRA_HEADERS[entries[0]?.status ?? 0];
  return {
    description: codes.map((code, index) => `\`${code}\`: ${entries[index]?.why}`).join('\n\n'),
    headers: {
      ...headersOf('Link', ...(extra ? [extra] : []), ...annotations),
      // The other codes of this status have no `Retry-After`.
      ...(extra !== 'Retry-After' && entries.some(({ retryAfter }) => retryAfter) && { 'Retry-After': RETRY_AFTER }),
    },
    content: contentOf(codes, catalogue),
  };
}

/** The content of an error response: an `Error` object with one of these codes. */
function contentOf(codes: readonly string[], catalogue: Catalogue): NonNullable<Response['content']> {
  const narrowed: Schema = { type: 'object', properties: { code: { type: 'string', enum: [...codes] } } };
  const examples = Object.fromEntries(codes.map((code) => [code, { value: exampleOf(code, catalogue) }]));
  return { 'application/json': { schema: { allOf: [ref('Error'), narrowed] }, examples } };
}

function otherError(catalogue: Catalogue): Response {
  const texts = HTTP_ERRORS.map((code) => `\`${code}\` (${ERRORS[code].status}): ${ERRORS[code].why}`);
  return {
    description: ['Errors of requests that are rejected before they reach an operation.', ...texts].join('\n\n'),
    headers: headersOf('Link'),
    content: contentOf(HTTP_ERRORS, catalogue),
  };
}

function exampleOf(code: string, catalogue: Catalogue): object {
  const { message, status } = catalogue.get(code) ?? {};
  const detail = { path: 'name', message: 'must not be empty', rule: 'TOO_SHORT', params: { min: 1 } };
  const details = code === 'BAD_USER_INPUT' && { details: [detail] };
  return { code, message, status, ...details, requestId: REQUEST_EXAMPLE };
}

function responseRef(name: string): OpenAPIV3.ReferenceObject {
  return { $ref: `#/components/responses/${name}` };
}

/** The name of the shared response for a status, such as `NotFound`. */
function nameOf(status: number): string {
  return (STATUS_CODES[status] ?? String(status)).replaceAll(' ', '');
}
