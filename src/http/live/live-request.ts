import { ProblemError } from '../../errors/errors';
import type { Variables } from '../../graphql/context';
import type { Documents } from '../../graphql/documents';
import { withText } from '../../graphql/trusted-documents';

/** Reads the parameters of an operation: of a message, a body or a query string. @throws ProblemError if they are malformed. */
export function readLiveRequest(sent: unknown, documents: Documents) {
  if (Array.isArray(sent)) throw malformed('batches are refused');
  const given = typeof sent === 'object' && sent !== null ? { ...sent } : {};
  const { query, operationName, variables } = withText(given, documents);
  if (typeof query !== 'string') throw malformed('query must be a string, the text of a document');
  if (operationName != null && typeof operationName !== 'string') throw malformed('operationName must be a string');
  if (variables != null && (typeof variables !== 'object' || Array.isArray(variables))) throw malformed(VARIABLES);
  return { query, operationName, variables: variables as Variables | null | undefined };
}

/** The parameters in a query string, where variables are JSON. @throws ProblemError if they are not. */
export function withParsedVariables({ variables, ...rest }: Readonly<Record<string, unknown>>): object {
  if (variables === undefined) return rest;
  try {
    return { ...rest, variables: JSON.parse(String(variables)) };
  } catch {
    throw malformed(VARIABLES);
  }
}

const VARIABLES = 'variables must be a JSON object';

function malformed(message: string): ProblemError {
  return new ProblemError('BAD_REQUEST', `The request is malformed: ${message}.`);
}
