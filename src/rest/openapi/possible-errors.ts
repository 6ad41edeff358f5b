import type { ErrorCode } from '../../errors/codes';
import type { PreparedOperation } from '../prepared-operation';

/** Errors that any operation may give. */
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

/** Errors of HTTP itself, before it is known which operation a request is for. */
export const HTTP_ERRORS: readonly ErrorCode[] = ['REQUEST_TIMEOUT', 'URI_TOO_LONG', 'HEADERS_TOO_LARGE'];

/** The errors that an operation may give: those of any operation, of its kind, and of its own rules. */
export function possibleErrors(operation: PreparedOperation): ReadonlySet<string> {
  const { errors, inputs, isConditional, method, payload, runsOnce, scope } = operation;
  const ofKind: [boolean, ...ErrorCode[]][] = [
    [scope !== undefined, 'FORBIDDEN'],
    [inputs.path.size > 0, 'NOT_FOUND'],
    [payload.isPage, 'OPERATION_TOO_COMPLEX'],
    // A DELETE has no body, but one that is sent all the same is read.
    [method !== 'GET', 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'],
    [isConditional, 'PRECONDITION_FAILED'],
    [runsOnce, 'IDEMPOTENCY_IN_PROGRESS', 'IDEMPOTENCY_MISMATCH'],
  ];
  return new Set([...ALWAYS, ...errors, ...ofKind.flatMap(([isGiven, ...codes]) => (isGiven ? codes : []))]);
}
