import {
  type DocumentNode,
  type ExecutionResult,
  execute,
  type FormattedExecutionResult,
  type GraphQLError,
  type GraphQLFormattedError,
  type GraphQLSchema,
  getOperationAST,
} from 'graphql';
import type { Context } from './context';
import { type Problem, ProblemError, problemOf } from './errors';
import { variableErrors } from './variable-errors';

export type Variables = Readonly<Record<string, unknown>>;

/** The answer to one operation. `status` is the HTTP status: 200 whenever there is data, else that of the first error. */
export interface Outcome {
  readonly status: number;
  readonly body: FormattedExecutionResult;
}

/** Runs validated documents on the schema: the one way to the resolvers, for GraphQL and REST alike. */
export class Executor {
  constructor(readonly schema: GraphQLSchema) {}

  async run(
    document: DocumentNode,
    operationName: string | null | undefined,
    variables: Variables,
    context: Context,
  ): Promise<Outcome> {
    const result = await execute({
      schema: this.schema,
      document,
      operationName,
      variableValues: variables as Record<string, unknown>,
      contextValue: context,
    });
    if (!result.errors) return { status: 200, body: result as FormattedExecutionResult };
    if (result.data === undefined)
      return this.refuse(document, operationName, variables, context, result.errors);
    return {
      status: 200,
      body: { ...result, errors: result.errors.map((error) => present(error, context)) },
    };
  }

  /** What graphql-js refuses before it runs a field: an operation that is not there, variables that do not fit. */
  private refuse(
    document: DocumentNode,
    operationName: string | null | undefined,
    variables: Variables,
    context: Context,
    errors: NonNullable<ExecutionResult['errors']>,
  ): Outcome {
    const operation = getOperationAST(document, operationName);
    if (!operation) {
      const message = errors[0]?.message ?? 'Unknown operation.';
      return refusal(new ProblemError('GRAPHQL_VALIDATION_FAILED', message), context);
    }
    const details = variableErrors(this.schema, operation, variables);
    const message = details.map(({ path, message }) => `${path}: ${message}`).join('; ');
    return refusal(
      new ProblemError('BAD_USER_INPUT', message || String(errors[0]?.message), details),
      context,
    );
  }
}

/** The answer to an operation that is refused as a whole: no data, and the error's own status. */
export function refusal(error: unknown, context: Context): Outcome {
  const problem = tell(error, context);
  return {
    status: problem.status,
    body: { errors: [{ message: problem.message, extensions: extensionsOf(problem, context.requestId) }] },
  };
}

/** The `extensions` of an error in GraphQL. */
export function extensionsOf({ code, status, details }: Problem, requestId?: string) {
  return { code, status, ...(details && { details }), ...(requestId && { requestId }) };
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
  if (internal) context.onInternalError(error);
  return problem;
}
