import { GraphQLError } from 'graphql';
import { failureOf } from '../database/failures';
import { Ended, OutcomeUnknown } from '../database/work/deadline';
import { DomainError, type ErrorDetail } from '../domain/domain-error';

/** Every error code of the contract with its HTTP status, for GraphQL and REST. */
export const ERROR_STATUS = {
  BAD_REQUEST: 400,
  BAD_USER_INPUT: 400,
  GRAPHQL_PARSE_FAILED: 400,
  GRAPHQL_VALIDATION_FAILED: 400,
  OPERATION_TOO_COMPLEX: 400,
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  QUERY_NOT_IN_SAFELIST: 403,
  NOT_FOUND: 404,
  PERSISTED_QUERY_NOT_IN_LIST: 404,
  METHOD_NOT_ALLOWED: 405,
  NOT_ACCEPTABLE: 406,
  REQUEST_TIMEOUT: 408,
  INSUFFICIENT_STOCK: 409,
  ORDER_COMPLETE: 409,
  CATEGORY_NOT_EMPTY: 409,
  PET_HAS_ORDERS: 409,
  IDEMPOTENCY_IN_PROGRESS: 409,
  PAYLOAD_TOO_LARGE: 413,
  URI_TOO_LONG: 414,
  UNSUPPORTED_MEDIA_TYPE: 415,
  UNKNOWN_REFERENCE: 422,
  IDEMPOTENCY_MISMATCH: 422,
  RATE_LIMITED: 429,
  KEY_BANNED: 429,
  HEADERS_TOO_LARGE: 431,
  INTERNAL_SERVER_ERROR: 500,
  SERVICE_UNAVAILABLE: 503,
  // The automatic persisted queries protocol: the client retries with the whole document.
  PERSISTED_QUERY_NOT_FOUND: 200,
  PERSISTED_QUERY_NOT_SUPPORTED: 200,
} as const;

export type ErrorCode = keyof typeof ERROR_STATUS;

/** An error as callers see it: the `Error` object of the specification (section 7) with the contract's additions. */
export interface Problem {
  readonly code: ErrorCode;
  readonly message: string;
  readonly status: number;
  readonly details?: readonly ErrorDetail[];
  /** The request that first got this error, if it may differ from the current one. */
  readonly requestId?: string;
}

/** An error raised at the edge rather than in the domain: it refuses a caller, a document or a request. */
export class ProblemError extends Error implements Problem {
  readonly status: number;

  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly details?: readonly ErrorDetail[],
    readonly requestId?: string,
  ) {
    super(message);
    this.status = ERROR_STATUS[code];
  }
}

const INTERNAL: Problem = {
  code: 'INTERNAL_SERVER_ERROR',
  message: 'Something went wrong on our side. Tell us the request id, and we will find out what.',
  status: 500,
};

const UNAVAILABLE: Problem = {
  code: 'SERVICE_UNAVAILABLE',
  message: 'The service is busy or its database is out of reach. Try again shortly.',
  status: 503,
};

const UNKNOWN: readonly ErrorDetail[] = [
  {
    path: 'outcome',
    message:
      'is unknown: the change was sent to the database, which has not confirmed it. Read what it concerns, or repeat it with the same Idempotency-Key.',
  },
];

/** Longer messages mostly repeat the caller's own input. */
const MAX_MESSAGE = 500;

/**
 * What a caller is told about an error. Expected errors keep their code and message; all others become a
 * generic one, and `internal` says that the original must be logged.
 */
export function problemOf(error: unknown): Problem & { internal?: true } {
  if (error instanceof ProblemError || error instanceof DomainError) {
    const { code, message, details } = error;
    const requestId = error instanceof ProblemError ? error.requestId : undefined;
    return {
      code,
      message: shorten(message),
      status: ERROR_STATUS[code],
      ...(details && { details: details.map(shortDetail) }),
      ...(requestId && { requestId }),
    };
  }
  if (error instanceof GraphQLError) return ofGraphQLError(error);
  if (error instanceof Ended) return { ...UNAVAILABLE, message: error.message };
  if (error instanceof OutcomeUnknown) return { ...UNAVAILABLE, details: UNKNOWN, internal: true };
  const failure = failureOf(error);
  if (failure === 'unavailable' || failure === 'timeout' || failure === 'transient')
    return { ...UNAVAILABLE, internal: true };
  return { ...INTERNAL, internal: true };
}

/** A GraphQLError either wraps what a resolver threw, or is graphql-js's or Apollo's own verdict on the request. */
function ofGraphQLError(error: GraphQLError): Problem & { internal?: true } {
  const { originalError, extensions, message } = error;
  if (originalError) {
    const inner = originalError instanceof GraphQLError ? originalError : undefined;
    if (!inner) return problemOf(thrownBy(originalError));
    if (isErrorCode(inner.extensions.code)) return ofGraphQLError(inner);
  }
  const code = isErrorCode(extensions.code) ? extensions.code : 'BAD_USER_INPUT';
  if (code === 'INTERNAL_SERVER_ERROR') return { ...INTERNAL, internal: true };
  const details = extensions.details as readonly ErrorDetail[] | undefined;
  return {
    code,
    message: shorten(message),
    status: ERROR_STATUS[code],
    ...(details && { details: details.map(shortDetail) }),
  };
}

/** Drivers may throw non-errors, or errors from another realm, which graphql-js wraps once more. */
function thrownBy(error: Error): unknown {
  return error.name === 'NonErrorThrown' ? (error as Error & { thrownValue: unknown }).thrownValue : error;
}

function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && Object.hasOwn(ERROR_STATUS, code);
}

/** A path begins with a name that the caller may have chosen: that of a variable. */
function shortDetail({ path, message }: ErrorDetail): ErrorDetail {
  return { path: shorten(path), message: shorten(message) };
}

function shorten(message: string): string {
  return message.length > MAX_MESSAGE ? `${message.slice(0, MAX_MESSAGE - 1)}…` : message;
}
