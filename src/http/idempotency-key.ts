import type { FastifyRequest } from 'fastify';
import type { Context } from '../graphql/context';
import { IDEMPOTENCY_KEY } from '../graphql/idempotency-headers';

/** Sets the request's idempotency key, if any, on its context. */
export function withIdempotencyKey(context: Context, { headers }: FastifyRequest): Context {
  const header = headers[IDEMPOTENCY_KEY];
  if (header !== undefined) context.idempotency = { header: String(header) };
  return context;
}
