import type { FormattedExecutionResult } from 'graphql';
import Negotiator from 'negotiator';
import type { ErrorCode } from '../graphql/errors';

/** What is wrong with a document or its variables, whoever passes it on. */
const OF_DOCUMENTS: readonly unknown[] = [
  'GRAPHQL_PARSE_FAILED',
  'GRAPHQL_VALIDATION_FAILED',
  'BAD_USER_INPUT',
] satisfies ErrorCode[];

/**
 * The status of an answer for this `Accept`. A client that reads only `application/json` takes any status but 200 for one
 * of something on the way, and its body for no GraphQL: it is told with 200 what is wrong with its document (GraphQL over
 * HTTP, section 6.4.1). Everyone else gets the status of the error.
 * @param body as an object or as the JSON of it.
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
