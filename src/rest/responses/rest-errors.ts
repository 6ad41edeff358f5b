import type { FormattedExecutionResult } from 'graphql';
import { badInput } from '../../domain/domain-error';
import { type Problem, ProblemError } from '../../errors/problem';
import type { PreparedOperation } from '../prepared-operation';
import { filler, pathParameters } from '../rest-operation';

/** The data of an operation's outcome. @throws ProblemError, DomainError for its error, if any, with REST names. */
export function dataOf(operation: PreparedOperation, body: FormattedExecutionResult): Record<string, unknown> {
  const { errors, data } = body;
  const [error] = errors ?? [];
  if (!error) return data as Record<string, unknown>;
  const { code, details, requestId } = error.extensions as unknown as Problem;
  if (!details) throw new ProblemError(code, error.message, undefined, requestId);
  const renamed = details.map(({ path, message }) => ({ path: operation.errorPaths.get(path) ?? path, message }));
  // The message of bad input is built from its details; others are kept.
  throw code === 'BAD_USER_INPUT' ? badInput(...renamed) : new ProblemError(code, error.message, renamed, requestId);
}

/** The error of a read that found nothing. */
export function nothingThere(
  { missing, payload, path: template }: PreparedOperation,
  path: Readonly<Record<string, string>>,
): ProblemError {
  const [parameter] = pathParameters(template);
  const message = missing ?? `${payload.type.name} {${parameter}} does not exist.`;
  return new ProblemError('NOT_FOUND', filler(message)(path));
}

/** The `Error` object of the specification (section 7), with the details and the request id that the contract adds. */
export function errorBody(problem: Problem, ownRequestId?: string): object {
  const { code, message, status, details, requestId = ownRequestId } = problem;
  return { code, message, status, ...(details && { details }), ...(requestId && { requestId }) };
}
