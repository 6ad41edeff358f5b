import type { FastifyRequest } from 'fastify';
import type { OperationRequest } from '../graphql/execution/context';
import { IDEMPOTENCY_KEY } from '../graphql/idempotency/idempotency-header';

/** Adds the request's idempotency key, if any. */
export function withIdempotencyKey(request: OperationRequest, { headers }: FastifyRequest): OperationRequest {
  const header = headers[IDEMPOTENCY_KEY];
  return header === undefined ? request : { ...request, idempotency: { header: String(header) } };
}
