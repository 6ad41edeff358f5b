import type { FormattedExecutionResult } from 'graphql';
import { badInput } from '../domain/domain-error';
import { type Problem, ProblemError } from '../graphql/errors';
import { renamePaths } from './error-paths';
import { filler } from './operation';
import type { PreparedOperation } from './prepare';

/** The data of an operation's outcome. @throws ProblemError, DomainError for its error, if any, with REST names. */
export function dataOf(
  operation: PreparedOperation,
  body: FormattedExecutionResult,
): Record<string, unknown> {
  const { errors, data } = body;
  const [error] = errors ?? [];
  if (!error) return data as Record<string, unknown>;
  const { code, details, requestId } = error.extensions as unknown as Problem;
  if (!details) throw new ProblemError(code, error.message, undefined, requestId);
  const renamed = renamePaths(details, operation.errorPaths);
  // The message of bad input is built from its details; others are kept.
  throw code === 'BAD_USER_INPUT'
    ? badInput(...renamed)
    : new ProblemError(code, error.message, renamed, requestId);
}

/** The error of a read that found nothing. */
export function nothingThere(
  { missing }: PreparedOperation,
  path: Readonly<Record<string, string>>,
): ProblemError {
  return new ProblemError('NOT_FOUND', filler(missing ?? 'The resource does not exist.')(path));
}
