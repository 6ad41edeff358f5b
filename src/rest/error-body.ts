import type { Problem } from '../graphql/problem';

/** The `Error` object of the specification (section 7), with the details and the request id that the contract adds. */
export function errorBody(problem: Problem, ownRequestId?: string): object {
  const { code, message, status, details, requestId = ownRequestId } = problem;
  return { code, message, status, ...(details && { details }), ...(requestId && { requestId }) };
}
