import type { ExecutionResult, FormattedExecutionResult, GraphQLError, GraphQLFormattedError } from 'graphql';
import type { Standing } from '../rate-limit/standing';
import type { Context } from './context';
import { type Problem, problemOf } from './errors';

/** The response to one operation. `status` is the HTTP status: 200 if it was executed, else that of the first error. */
export interface Outcome {
  readonly status: number;
  readonly body: FormattedExecutionResult;
  /** For an operation with an idempotency key: whether this is a stored response. */
  readonly replayed?: boolean;
}

type Body = { -readonly [member in keyof FormattedExecutionResult]: FormattedExecutionResult[member] };

/** The response body of an executed operation. @param cost how many requests it counted as. */
export function bodyOf(
  { errors, data }: ExecutionResult,
  context: Context,
  cost: number,
): FormattedExecutionResult {
  const body = eventOf({ errors, data }, context);
  const { standing } = context.meter;
  if (standing) body.extensions = { cost: costOf(cost, standing), ...body.extensions };
  return body;
}

/** The body of one subscription event. It reports no cost: the subscription was charged when it started. */
export function eventOf({ errors, data }: ExecutionResult, context: Context): Body {
  const body: Body = errors ? { errors: errors.map((error) => present(error, context)), data } : { data };
  const extensions = context.notice?.extensions;
  if (extensions) body.extensions = extensions;
  return body;
}

/** The response to an operation that is refused as a whole: no data, and the error's own status. */
export function refusal(error: unknown, context: Context): Outcome {
  const problem = tell(error, context);
  const extensions = context.notice?.extensions;
  return {
    status: problem.status,
    body: {
      errors: [{ message: problem.message, extensions: extensionsOf(problem, context.requestId) }],
      ...(extensions && { extensions }),
    },
  };
}

/** The response to a document that may not run, with the status of its first error. */
export function refuseDocument(faults: readonly GraphQLError[], context: Context): Outcome {
  const errors = faults.map((fault) => present(fault, context));
  return { status: Number(errors[0]?.extensions?.status), body: { errors } };
}

/** The `extensions` of a GraphQL error. */
export function extensionsOf({ code, status, details }: Problem, requestId?: string) {
  return { code, status, ...(details && { details }), ...(requestId && { requestId }) };
}

/** What the operation cost, and what remains in each window. */
function costOf(operation: number, { windows: [minute, day] }: Standing) {
  return { operation, remaining: { minute: minute.remaining, day: day.remaining } };
}

function present(error: GraphQLError, context: Context): GraphQLFormattedError {
  const problem = tell(error, context);
  const { locations, path } = error;
  return {
    message: problem.message,
    ...(locations && { locations }),
    ...(path && { path }),
    extensions: extensionsOf(problem, context.requestId),
  };
}

function tell(error: unknown, context: Context): Problem {
  const { internal, ...problem } = problemOf(error);
  if (internal) context.observer.onInternalError(error);
  if (problem.code === 'SERVICE_UNAVAILABLE') context.observer.onUnavailable();
  return problem;
}
