import type { FormattedExecutionResult } from 'graphql';
import { badInput } from '../domain/errors';
import { type Problem, ProblemError } from '../graphql/errors';
import { renamePaths } from './error-paths';
import { filler } from './operation';
import type { PreparedOperation } from './prepare';

/** The data of an operation's outcome. @throws ProblemError, DomainError for the error that it holds instead, in REST's names. */
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
  // The message of bad input is its details; others speak for themselves.
  throw code === 'BAD_USER_INPUT'
    ? badInput(...renamed)
    : new ProblemError(code, error.message, renamed, requestId);
}

/** The refusal of a read that found nothing. */
export function nothingThere(
  { missing }: PreparedOperation,
  path: Readonly<Record<string, string>>,
): ProblemError {
  return new ProblemError('NOT_FOUND', filler(missing ?? 'There is nothing here.')(path));
}
