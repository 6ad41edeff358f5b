import { GraphQLError } from 'graphql';
import { Ended, OutcomeUnknown } from '../database/deadline';
import { failureOf } from '../database/failures';
import { DomainError, type ErrorDetail } from './domain-error';
import { ERRORS, type ErrorCode, isErrorCode } from './error-codes';

/** An error as callers see it: the `Error` object of the specification (section 7) with the contract's additions. */
export interface Problem {
  readonly code: ErrorCode;
  readonly message: string;
  readonly status: number;
  readonly details?: readonly ErrorDetail[];
  /** The request that first got this error, if it may differ from the current one. */
  readonly requestId?: string;
}

/** What logs and metrics say about an error. */
export type Told = Pick<Problem, 'code' | 'status'>;

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
    this.status = ERRORS[code].status;
  }
}

/** The `Error` object of the specification (section 7), with the details and the request id that the contract adds. */
export function errorBody(problem: Problem, ownRequestId?: string): object {
  const { code, message, status, details, requestId = ownRequestId } = problem;
  return { code, message, status, ...(details && { details }), ...(requestId && { requestId }) };
}

const INTERNAL = generic('INTERNAL_SERVER_ERROR');
const UNAVAILABLE = generic('SERVICE_UNAVAILABLE');

/** An error that says nothing about its cause. */
function generic(code: ErrorCode): Problem {
  const { status, message } = ERRORS[code];
  return { code, message, status };
}

const UNKNOWN: readonly ErrorDetail[] = [
  {
    path: 'outcome',
    message:
      'is unknown: the change was sent to the database, which has not confirmed it. Read what it concerns, or repeat it with the same Idempotency-Key.',
  },
];

/** Why nothing was written, while reads go on. The log has no line for each: `/readyz` reports it. */
const UNWRITABLE = {
  'read-only': 'Nothing can be written at the moment, since the database is read-only. Reads go on; try again later.',
  'disk-full':
    'Nothing can be written at the moment, since the disk of the database is full. Reads go on; try again later.',
};

/** Longer messages mostly repeat the caller's own input. */
const MAX_MESSAGE = 500;

/**
 * What a caller is told about an error. Expected errors keep their code and message; all others become a
 * generic one, and `internal` says that the original must be logged.
 */
export function problemOf(error: unknown): Problem & { internal?: true } {
  if (error instanceof ProblemError || error instanceof DomainError) {
    const requestId = error instanceof ProblemError && error.requestId;
    return { ...shortened(error.code, error.message, error.details), ...(requestId && { requestId }) };
  }
  if (error instanceof GraphQLError) return ofGraphQLError(error);
  if (error instanceof Ended) return { ...UNAVAILABLE, message: error.message };
  if (error instanceof OutcomeUnknown) return { ...UNAVAILABLE, details: UNKNOWN, internal: true };
  const failure = failureOf(error);
  if (failure === 'read-only' || failure === 'disk-full') return { ...UNAVAILABLE, message: UNWRITABLE[failure] };
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
  return shortened(code, message, extensions.details as readonly ErrorDetail[] | undefined);
}

/** Drivers may throw non-errors, or errors from another realm, which graphql-js wraps once more. */
function thrownBy(error: Error): unknown {
  return error.name === 'NonErrorThrown' ? (error as Error & { thrownValue: unknown }).thrownValue : error;
}

function shortened(code: ErrorCode, message: string, details: readonly ErrorDetail[] | undefined): Problem {
  const { status } = ERRORS[code];
  if (!details) return { code, message: shorten(message), status };
  // A path begins with a name that the caller may have chosen: that of a variable.
  const short = details.map((detail) => ({ path: shorten(detail.path), message: shorten(detail.message) }));
  return { code, message: shorten(message), status, details: short };
}

function shorten(message: string): string {
  return message.length > MAX_MESSAGE ? `${message.slice(0, MAX_MESSAGE - 1)}…` : message;
}
