import type { ExecutionResult, FormattedExecutionResult, GraphQLError, GraphQLFormattedError } from 'graphql';
import { TooManyBytes } from '../database/reading/select';
import { type Problem, ProblemError, problemOf, retryAfterOf } from '../errors/errors';
import type { LimitStatus } from '../rate-limit/limit-status';
import type { OperationRequest } from './context';
import type { StabilityLevel } from './directives';
import { sizeOf } from './serialization';

/**
 * The response to one operation. `status` is the HTTP status: 200 for an executed operation, otherwise the status of the
 * first error.
 */
export interface Outcome {
  readonly status: number;
  readonly body: FormattedExecutionResult;
  /** The lowest stability of the elements that the operation uses; `undefined` if all are stable. */
  readonly stability?: StabilityLevel;
  /** Whether this is a stored response. Set only for an operation with an idempotency key. */
  readonly replayed?: boolean;
}

/** The context of a response to an operation. */
export interface ResponseContext {
  readonly operationRequest: OperationRequest;
  readonly stability?: StabilityLevel;
}

type Body = { -readonly [member in keyof FormattedExecutionResult]: FormattedExecutionResult[member] };

/** The cost of an operation: the number of requests that it counts as, and the estimated cost. */
interface Costs {
  readonly analysis: { readonly countedFields: number };
  readonly cost: number;
}

/** The response to an executed operation. */
export function outcomeOf(result: ExecutionResult, context: ResponseContext & Costs): Outcome {
  const body = responseBody(result, context);
  const { status: limitStatus } = context.operationRequest.meter;
  // REST reports the limits in headers.
  if (limitStatus && context.operationRequest.api.name === 'graphql')
    body.extensions = { cost: costOf(context, limitStatus) };
  return { status: 200, body, stability: context.stability };
}

/**
 * Reports the errors to the observer. @returns the body of a response or of an event, without the cost. {@link outcomeOf} adds
 * the cost to responses. Events report no cost, since a subscription is charged when it starts.
 */
export function responseBody({ errors, data }: ExecutionResult, { operationRequest }: ResponseContext): Body {
  return errors ? { errors: errors.map((error) => formatError(error, operationRequest)), data } : { data };
}

/** Reports the error to the observer. @returns the response to a rejected operation: no data, and the status of the error. */
export function rejectOperation(error: unknown, { operationRequest, stability }: ResponseContext): Outcome {
  const problem = reportProblem(error, operationRequest);
  return {
    status: problem.status,
    body: { errors: [{ message: problem.message, extensions: extensionsOf(problem, operationRequest.requestId) }] },
    stability,
  };
}

/** Maximum size of a response without its data and errors, in bytes. */
const ENVELOPE = 1000;

/**
 * Checks the size of a result.
 * @param keepsChanges whether the changes of successful root fields remain, although the response is rejected.
 * @throws ProblemError `OPERATION_TOO_COMPLEX`.
 */
export function limitSize(result: ExecutionResult, maxBytes: number, keepsChanges: boolean): ExecutionResult {
  const { data, errors = [] } = result;
  const isTooLarge =
    errors.some(({ originalError }) => originalError instanceof TooManyBytes) ||
    ENVELOPE + errors.reduce((sum, error) => sum + errorSize(error), 0) + sizeOf(data) > maxBytes;
  if (!isTooLarge) return result;
  const message = `The response would be larger than ${maxBytes} bytes. Ask for shorter pages or fewer fields.`;
  const failed = new Set(errors.map(({ path = [] }) => path.length === 1 && path[0]));
  const run = keepsChanges ? Object.keys(data ?? {}).filter((key) => !failed.has(key)) : [];
  const details = run.map((key) => ({ path: key, message: 'has been executed, and its changes remain' }));
  throw new ProblemError('OPERATION_TOO_COMPLEX', message, details.length ? details : undefined);
}

/**
 * An upper bound for the size of this error in a response, in bytes. The message counts twice, since the details may repeat
 * the message.
 */
function errorSize({ message, path }: GraphQLError): number {
  return 300 + 2 * sizeOf(message) + sizeOf(path);
}

/**
 * Reports the errors to the observer.
 * @returns the response to a rejected document. The HTTP status is the status of the first error.
 */
export function rejectDocument(faults: readonly GraphQLError[], operationRequest: OperationRequest): Outcome {
  const errors = faults.map((fault) => formatError(fault, operationRequest));
  return { status: Number(errors[0]?.extensions?.status), body: { errors } };
}

/** The `extensions` of a GraphQL error. */
export function extensionsOf(problem: Problem, requestId?: string) {
  const { code, status, details } = problem;
  const retryAfter = retryAfterOf(problem);
  return {
    code,
    status,
    ...(details && { details }),
    ...(retryAfter && { retryAfter }),
    ...(requestId && { requestId }),
  };
}

/** The cost of the operation, and the remaining quota of each window. */
function costOf({ analysis, cost }: Costs, { windows: [minute, day] }: LimitStatus) {
  return {
    operation: analysis.countedFields,
    estimated: Math.round(cost),
    remaining: { minute: minute.remaining, day: day.remaining },
  };
}

function formatError(error: GraphQLError, operationRequest: OperationRequest): GraphQLFormattedError {
  const problem = reportProblem(error, operationRequest);
  const { locations, path } = error;
  return {
    message: problem.message,
    ...(locations && { locations }),
    ...(path && { path }),
    extensions: extensionsOf(problem, operationRequest.requestId),
  };
}

function reportProblem(error: unknown, { observer }: OperationRequest): Problem {
  const { internal, ...problem } = problemOf(error);
  if (internal) observer.onInternalError(error);
  observer.onProblem(problem);
  return problem;
}
