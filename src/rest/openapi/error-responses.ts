import { STATUS_CODES } from 'node:http';
import type { OpenAPIV3 } from 'openapi-types';
import { ERROR_STATUS, type ErrorCode } from '../../errors/problem';
import type { PreparedOperation } from '../prepared-operation';
import { annotationHeaderNames, type HeaderName, headersOf } from './response-headers';

/** The meaning of each REST error, and an example of its message. */
const MEANINGS: Partial<Record<ErrorCode, readonly [meaning: string, message: string]>> = {
  BAD_REQUEST: ['The request is malformed.', 'The body is not valid JSON.'],
  BAD_USER_INPUT: ['Values have the wrong type or are out of bounds; `details` lists them.', 'name: must not be empty'],
  UNAUTHENTICATED: [
    'A key is required, or the key sent is malformed, unknown, revoked or expired.',
    'The API key is malformed, unknown, revoked or expired.',
  ],
  FORBIDDEN: [
    'The key lacks the scope.',
    'This operation needs an API key with the scope WRITE; this key does not have it.',
  ],
  NOT_FOUND: ['The resource does not exist.', 'Pet 7 does not exist.'],
  NOT_ACCEPTABLE: ['The client does not accept `application/json`.', 'Responses are application/json.'],
  INSUFFICIENT_STOCK: [
    'Fewer units are in stock than the order asks for.',
    'Fewer than 2 units of pet 1 are in stock.',
  ],
  ORDER_COMPLETE: [
    'The order is complete: its pet and quantity can no longer change.',
    'Order 1 is complete; its pet and quantity no longer change.',
  ],
  CATEGORY_NOT_EMPTY: ['The category still has pets.', 'Category 1 still has pets; move or delete them first.'],
  PET_HAS_ORDERS: ['The pet still has orders.', 'Pet 1 still has orders; cancel them first.'],
  IDEMPOTENCY_IN_PROGRESS: [
    'A request with the same `Idempotency-Key` is still running.',
    'A request with this Idempotency-Key is still running. Try again shortly.',
  ],
  PAYLOAD_TOO_LARGE: ['The body is larger than 100 KiB.', 'The body must not be larger than 100 KiB.'],
  UNSUPPORTED_MEDIA_TYPE: ['The body is not JSON in UTF-8.', 'The body must be application/json.'],
  UNKNOWN_REFERENCE: ['The body refers to something that does not exist.', 'Category 7 does not exist.'],
  IDEMPOTENCY_MISMATCH: [
    'The `Idempotency-Key` was used for another request.',
    'This Idempotency-Key was used for another request within the last 24 hours.',
  ],
  RATE_LIMITED: [
    'The request exceeds the limits of the plan.',
    'This plan allows 60 requests per minute. Try again in 12 seconds.',
  ],
  KEY_BANNED: [
    'The caller is banned after too many refused requests.',
    'Banned after too many refused requests. Try again in 60 seconds.',
  ],
  INTERNAL_SERVER_ERROR: [
    'Something went wrong on our side; report the request id.',
    'Something went wrong on our side. Tell us the request id, and we will find out what.',
  ],
  SERVICE_UNAVAILABLE: [
    'The service is busy or its database is unreachable.',
    'The service is busy or its database is out of reach. Try again shortly.',
  ],
};

const CODES = Object.keys(MEANINGS) as ErrorCode[];
const REQUEST = '5f0c7f0e-6f1c-4f7e-9a55-0d6d2b8c1a11';
const ERROR = { $ref: '#/components/schemas/Error' };

const EXTRA_HEADERS: Readonly<Record<number, HeaderName>> = {
  401: 'WWW-Authenticate',
  404: 'Idempotent-Replayed',
  409: 'Idempotent-Replayed',
  422: 'Idempotent-Replayed',
  429: 'Retry-After',
  503: 'Retry-After',
};

/** The error responses by name: `NotFound`. */
export function errorResponses(): Record<string, OpenAPIV3.ResponseObject> {
  const statuses = [...new Set(CODES.map((code) => ERROR_STATUS[code]))];
  return {
    ...Object.fromEntries(statuses.map((status) => [nameOf(status), errorResponse(status)])),
    [OTHER]: {
      description: 'Any other error, at the level of HTTP, such as headers that are too large.',
      headers: headersOf(),
      content: { 'application/json': { schema: ERROR } },
    },
  };
}

/** The errors that an operation may return, by status. */
export function errorsOf(operation: PreparedOperation) {
  const { inputs, method, runsOnce, errors = [] } = operation;
  const codes: ErrorCode[] = [
    'BAD_USER_INPUT',
    'UNAUTHENTICATED',
    'FORBIDDEN',
    'NOT_ACCEPTABLE',
    'RATE_LIMITED',
    'INTERNAL_SERVER_ERROR',
    'SERVICE_UNAVAILABLE',
    ...(inputs.path.size ? (['NOT_FOUND'] as const) : []),
    // A DELETE has no body, but one that is sent all the same is read.
    ...(method !== 'GET' ? (['PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'] as const) : []),
    ...(runsOnce ? (['IDEMPOTENCY_IN_PROGRESS', 'IDEMPOTENCY_MISMATCH'] as const) : []),
    ...errors,
  ];
  const statuses = [...new Set(codes.map((code) => ERROR_STATUS[code]))].sort((a, b) => a - b);
  const annotations = annotationHeaderNames(operation);
  return {
    ...Object.fromEntries(
      statuses.map((status) => [
        status,
        // Errors carry annotations too, so an annotated operation has its own responses.
        annotations.length ? errorResponse(status, annotations) : ref(nameOf(status)),
      ]),
    ),
    default: ref(OTHER),
  };
}

function errorResponse(status: number, annotations: readonly HeaderName[] = []): OpenAPIV3.ResponseObject {
  const extra = EXTRA_HEADERS[status];
  const codes = CODES.filter((code) => ERROR_STATUS[code] === status);
  return {
    description: codes.map((code) => `\`${code}\`: ${MEANINGS[code]?.[0]}`).join(' '),
    headers: headersOf(...(extra ? [extra] : []), ...annotations),
    content: {
      'application/json': {
        schema: ERROR,
        examples: Object.fromEntries(codes.map((code) => [code, { value: exampleOf(code) }])),
      },
    },
  };
}

function exampleOf(code: ErrorCode): object {
  const details = code === 'BAD_USER_INPUT' && { details: [{ path: 'name', message: 'must not be empty' }] };
  return { code, message: MEANINGS[code]?.[1], status: ERROR_STATUS[code], ...details, requestId: REQUEST };
}

const OTHER = 'OtherError';

function ref(name: string): OpenAPIV3.ReferenceObject {
  return { $ref: `#/components/responses/${name}` };
}

/** `NotFound` */
function nameOf(status: number): string {
  return (STATUS_CODES[status] ?? String(status)).replaceAll(' ', '');
}
