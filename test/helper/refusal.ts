import type { ErrorDetail } from '../../src/errors/errors';
import type { Gateway } from './gateway';

/** A refused operation, as the caller sees it. */
export interface Refusal {
  /** The HTTP status. */
  http: number;
  code: unknown;
  /** The status in the error itself. */
  status: unknown;
  message: string;
  details: ErrorDetail[];
  /** The paths of the details: `input.name`. */
  paths: string[];
}

/** Runs an operation that must be refused with exactly one error. */
export async function refusalOf(gateway: Gateway, query: string, variables?: object): Promise<Refusal> {
  const { status: http, data, errors } = await gateway.graphql(query, variables);
  const [error] = errors;
  if (!error || errors.length > 1) throw new Error(`expected exactly one error: ${JSON.stringify({ data, errors })}`);
  const { code, status, details = [] } = error.extensions as unknown as Refusal;
  return { http, code, status, message: error.message, details, paths: details.map(({ path }) => path) };
}
