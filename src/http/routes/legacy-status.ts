import type { FormattedExecutionResult } from 'graphql';
import Negotiator from 'negotiator';
import type { ErrorCode } from '../../graphql/errors';

/** Errors in a document or its variables. */
const OF_DOCUMENTS: readonly unknown[] = [
  'GRAPHQL_PARSE_FAILED',
  'GRAPHQL_VALIDATION_FAILED',
  'BAD_USER_INPUT',
] satisfies ErrorCode[];

/**
 * The response status for this `Accept`. A client that reads only `application/json` attributes any status but 200 to an
 * intermediary, and does not read the body as GraphQL: errors in its document are reported with 200 (GraphQL over HTTP,
 * section 6.4.1). Everyone else gets the status of the error.
 * @param body as an object or as JSON text.
 */
export function statusFor(
  accept: string | undefined,
  status: number,
  body: FormattedExecutionResult | string,
): number {
  if (status !== 400 || accept === undefined || readsGraphQL(accept)) return status;
  const { errors } = typeof body === 'string' ? (JSON.parse(body) as FormattedExecutionResult) : body;
  return errors?.every(({ extensions }) => OF_DOCUMENTS.includes(extensions?.code)) ? 200 : status;
}

function readsGraphQL(accept: string): boolean {
  return (
    new Negotiator({ headers: { accept } }).mediaType(['application/graphql-response+json']) !== undefined
  );
}
