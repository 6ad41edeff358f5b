import type { FastifyRequest } from 'fastify';
import type { Context } from '../graphql/context';
import { IDEMPOTENCY_KEY } from '../graphql/idempotency-headers';

/** The context with the idempotency key that the request came with, if it did. */
export function withIdempotencyKey(context: Context, { headers }: FastifyRequest): Context {
  const header = headers[IDEMPOTENCY_KEY];
  if (header !== undefined) context.idempotency = { header: String(header) };
  return context;
}
