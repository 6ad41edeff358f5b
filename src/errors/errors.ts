import { GraphQLError } from 'graphql';
import { Ended, OutcomeUnknown } from '../database/deadline';
import { type Failure, failureOf, violatedForeignKey } from '../database/failures';
import { ERRORS, type ErrorCode, isErrorCode } from './codes';

/** What is wrong with a value. */
export interface Fault {
  readonly message: string;
  /** The broken rule, one of {@link ErrorEntry.rules}; `undefined` for faults that a form cannot act on. */
  readonly rule?: string;
  /** The values of the rule, such as `max`, or what else a client needs. */
  readonly params?: Readonly<Record<string, number | string>>;
}

/** One problem of the input: the path of the invalid value (`input.name`, `first`), and what is wrong with it. */
export interface ErrorDetail extends Fault {
  readonly path: string;
}

/**
 * An error in a response: the `Error` object of docs/specification.md plus the details and the request id, which the gateway
 * adds.
 */
export interface Problem {
  readonly code: string;
  readonly message: string;
  readonly status: number;
  readonly details?: readonly ErrorDetail[];
  /**
   * The id of the request that first got this error. Set only if the error may come from an earlier request, as in a
   * replayed response.
   */
  readonly requestId?: string;
  /** The seconds after which the same request may succeed. The default is the value of the code. */
  readonly retryAfter?: number;
}

/** The part of an error that logs, metrics and headers use. */
export type ProblemSummary = Pick<Problem, 'code' | 'status' | 'retryAfter'>;

/** The seconds after which a request with this error may succeed; `undefined` if waiting does not help. */
export function retryAfterOf({ code, retryAfter }: ProblemSummary): number | undefined {
  return retryAfter ?? (isErrorCode(code) ? ERRORS[code].retryAfter : undefined);
}

/** An expected error: the caller gets its code, message and details. */
export class ExpectedError extends Error implements Problem {
  constructor(
    readonly code: string,
    readonly status: number,
    message: string,
    readonly details?: readonly ErrorDetail[],
    readonly requestId?: string,
    readonly retryAfter?: number,
  ) {
    super(message);
  }
}

/** An expected error with one of the gateway's codes. The default message is the example in the catalogue. */
export class ProblemError extends ExpectedError {
  constructor(
    code: ErrorCode,
    message: string = ERRORS[code].message,
    details?: readonly ErrorDetail[],
    requestId?: string,
    retryAfter?: number,
  ) {
    super(code, ERRORS[code].status, message, details, requestId, retryAfter);
  }
}

/** Rejects the whole operation when a field throws it, even if other fields have already run. */
export class OperationRejection extends ExpectedError {
  constructor({ code, status, message, details, retryAfter }: Problem) {
    super(code, status, message, details, undefined, retryAfter);
  }
}

/** The `Error` object of docs/specification.md, plus the details and the request id, which the gateway adds. */
export function errorBody(problem: Problem, ownRequestId?: string): object {
  const { code, message, status, details, requestId = ownRequestId } = problem;
  return { code, message, status, ...(details && { details }), ...(requestId && { requestId }) };
}

const INTERNAL = generic('INTERNAL_SERVER_ERROR');
const UNAVAILABLE = generic('SERVICE_UNAVAILABLE');

/** An error that hides its cause from the caller. */
function generic(code: ErrorCode): Problem {
  const { status, message } = ERRORS[code];
  return { code, message, status };
}

const UNKNOWN: readonly ErrorDetail[] = [
  {
    path: 'outcome',
    message:
      'is unknown: the change was sent to the database, but the database has not confirmed it. Read the affected objects, or repeat the request with the same Idempotency-Key.',
  },
];

/** Messages for failed writes while reads succeed. `/readyz` reports this state, so the individual errors are not logged. */
const UNWRITABLE = {
  'read-only': 'Writes are rejected at the moment, since the database is read-only. Reads still work; try again later.',
  'disk-full':
    'Writes are rejected at the moment, since the disk of the database is full. Reads still work; try again later.',
};

/** Failures of the database that may end without a change of the request. */
const PASSING: readonly Failure[] = ['unavailable', 'rejected', 'timeout', 'transient', 'stale'];

/** Maximum length of a message. Longer messages mostly repeat the caller's own input. */
const MAX_MESSAGE = 500;

/**
 * Converts any error to the error in a response. Expected errors keep their code and message. Errors for a passed
 * deadline, a read-only database or a full disk get specific messages. All other errors get a generic message. If
 * `internal` is set, the calling code must log the original error.
 */
export function problemOf(error: unknown): Problem & { internal?: true } {
  if (error instanceof ExpectedError) {
    const { requestId, retryAfter } = error;
    return { ...shortened(error), ...(requestId && { requestId }), ...(retryAfter && { retryAfter }) };
  }
  if (error instanceof GraphQLError) return ofGraphQLError(error);
  if (error instanceof Ended) return { ...UNAVAILABLE, message: error.message };
  if (error instanceof OutcomeUnknown) return { ...UNAVAILABLE, details: UNKNOWN, internal: true };
  const failure = failureOf(error);
  if (failure === 'read-only' || failure === 'disk-full') return { ...UNAVAILABLE, message: UNWRITABLE[failure] };
  if (failure && PASSING.includes(failure)) return { ...UNAVAILABLE, internal: true };
  return { ...INTERNAL, internal: true };
}

/** A GraphQLError either wraps an error of a resolver, or is an error of graphql-js or Apollo Server about the request. */
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
  return shortened({ code, status: ERRORS[code].status, message, details });
}

/**
 * Unwraps values that graphql-js wraps as `NonErrorThrown`: drivers may throw non-errors, or errors of another JavaScript
 * realm.
 */
function thrownBy(error: Error): unknown {
  return error.name === 'NonErrorThrown' ? (error as Error & { thrownValue: unknown }).thrownValue : error;
}

function shortened({ code, status, message, details }: Problem): Problem {
  if (!details) return { code, message: shorten(message), status };
  // Paths are shortened too: a path may begin with the name of a variable, which the caller chose.
  const short = details.map((detail) => ({ ...detail, path: shorten(detail.path), message: shorten(detail.message) }));
  return { code, message: shorten(message), status, details: short };
}

function shorten(message: string): string {
  return message.length > MAX_MESSAGE ? `${message.slice(0, MAX_MESSAGE - 1)}…` : message;
}

/** The error for invalid input. The message lists every invalid field and the rule that it breaks. */
export function badInput(...details: ErrorDetail[]): ProblemError {
  const message = details.map((detail) => `${detail.path}: ${detail.message}`).join('; ');
  return new ProblemError('BAD_USER_INPUT', message, details);
}

/** The error of a request without a body. */
export function emptyBody(): ProblemError {
  return new ProblemError('BAD_REQUEST', 'The body must not be empty.');
}

/** @param what the type of object: `Pet`. */
export function notFound(what: string, id: bigint): ProblemError {
  return new ProblemError('NOT_FOUND', `${what} ${id} does not exist.`);
}

/** The error for input that refers to an object that does not exist. */
export function unknownReference(path: string, what: string, id: bigint | string): ProblemError {
  const message = `${what} ${id} does not exist.`;
  return new ProblemError('UNKNOWN_REFERENCE', message, [{ path, message }]);
}

/**
 * Awaits a write, and converts the violation of a foreign key to an error for the caller.
 * @param errors the errors by the name of the foreign key (`foreignKeyOf`). Other foreign keys are internal errors.
 */
export async function convertForeignKeys<T>(
  write: Promise<T>,
  errors: Readonly<Record<string, () => ExpectedError>>,
): Promise<T> {
  try {
    return await write;
  } catch (error) {
    throw errors[violatedForeignKey(error) ?? '']?.() ?? error;
  }
}

/**
 * The value of a `Link` header (RFC 8288) that points to the section about a code in docs/errors.md.
 */
export function helpLink(code: string): string {
  return `</docs/errors#${code.toLowerCase()}>; rel="help"`;
}
