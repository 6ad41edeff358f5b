import { STATUS_CODES } from 'node:http';
import type { OpenAPIV3 } from 'openapi-types';
import { ERROR_STATUS, type ErrorCode } from '../../graphql/errors';
import type { PreparedOperation } from '../prepare';
import { type HeaderName, headersOf } from './headers';

/** What the errors of REST mean, and an example of each status. */
const MEANINGS: Partial<Record<ErrorCode, string>> = {
  BAD_REQUEST: 'The request is malformed.',
  BAD_USER_INPUT: 'A value breaks its type or its bounds; `details` names each one.',
  UNAUTHENTICATED: 'A key is needed, or this one is unknown, malformed or revoked.',
  FORBIDDEN: 'The key lacks the scope.',
  NOT_FOUND: 'There is no such resource.',
  NOT_ACCEPTABLE: 'The client does not accept `application/json`.',
  INSUFFICIENT_STOCK: 'Fewer units are in stock than the order asks for.',
  ORDER_COMPLETE: 'The order is complete: its pet and quantity no longer change.',
  CATEGORY_NOT_EMPTY: 'The category still has pets.',
  PET_HAS_ORDERS: 'The pet still has orders.',
  IDEMPOTENCY_IN_PROGRESS: 'A request with the same `Idempotency-Key` is still running.',
  PAYLOAD_TOO_LARGE: 'The body is larger than 100 KiB.',
  UNSUPPORTED_MEDIA_TYPE: 'The body is not JSON in UTF-8.',
  UNKNOWN_REFERENCE: 'The body refers to something that does not exist.',
  IDEMPOTENCY_MISMATCH: 'The `Idempotency-Key` was used for another request.',
  RATE_LIMITED: 'The request exceeds the limits of the plan.',
  KEY_BANNED: 'The caller went on for too long after it was refused.',
  INTERNAL_SERVER_ERROR: 'Something went wrong; the request id tells us what.',
  SERVICE_UNAVAILABLE: 'The service is busy or its database is out of reach.',
};

const EXTRA_HEADERS: Readonly<Record<number, HeaderName>> = {
  401: 'WWW-Authenticate',
  404: 'Idempotent-Replayed',
  409: 'Idempotent-Replayed',
  422: 'Idempotent-Replayed',
  429: 'Retry-After',
  503: 'Retry-After',
};

/** The answers to errors by name: `NotFound`. */
export function errorResponses(): Record<string, OpenAPIV3.ResponseObject> {
  const codes = Object.keys(MEANINGS) as ErrorCode[];
  const statuses = [...new Set(codes.map((code) => ERROR_STATUS[code]))];
  return Object.fromEntries(
    statuses.map((status) => {
      const extra = EXTRA_HEADERS[status];
      return [
        nameOf(status),
        {
          description: codes
            .filter((code) => ERROR_STATUS[code] === status)
            .map((code) => `\`${code}\`: ${MEANINGS[code]}`)
            .join(' '),
          headers: headersOf(...(extra ? [extra] : [])),
          content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
        },
      ];
    }),
  );
}

/** The errors that an operation may answer, by status. */
export function errorsOf({ inputs, body, runsOnce, errors = [] }: PreparedOperation) {
  const codes: ErrorCode[] = [
    'BAD_USER_INPUT',
    'UNAUTHENTICATED',
    'FORBIDDEN',
    'NOT_ACCEPTABLE',
    'RATE_LIMITED',
    'INTERNAL_SERVER_ERROR',
    'SERVICE_UNAVAILABLE',
    ...(inputs.path.size ? (['NOT_FOUND'] as const) : []),
    ...(body ? (['PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'] as const) : []),
    ...(runsOnce ? (['IDEMPOTENCY_IN_PROGRESS', 'IDEMPOTENCY_MISMATCH'] as const) : []),
    ...errors,
  ];
  const statuses = [...new Set(codes.map((code) => ERROR_STATUS[code]))].sort((a, b) => a - b);
  return Object.fromEntries(
    statuses.map((status) => [status, { $ref: `#/components/responses/${nameOf(status)}` }]),
  );
}

/** `NotFound` */
function nameOf(status: number): string {
  return (STATUS_CODES[status] ?? String(status)).replaceAll(' ', '');
}
