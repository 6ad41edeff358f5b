import type { Outcome } from './outcome';

/** The request header with the idempotency key. */
export const IDEMPOTENCY_KEY = 'idempotency-key';

/** The response header that marks a replay. */
export const IDEMPOTENT_REPLAYED = 'Idempotent-Replayed';

/** The headers of a response to an operation with an idempotency key; none for others. */
export function idempotencyHeaders({
  replayed,
}: Pick<Outcome, 'replayed'>): Readonly<Record<string, string>> {
  if (replayed === undefined) return NONE;
  return replayed ? { ...USED, [IDEMPOTENT_REPLAYED.toLowerCase()]: 'true' } : USED;
}

/** All headers that the outcome of a GraphQL operation adds to its response. */
export function headersOf(outcome: Pick<Outcome, 'notice' | 'replayed'>): Readonly<Record<string, string>> {
  // Idempotency keys are experimental, the lowest level, so their x-stability may override the notice's.
  return { ...outcome.notice?.headers, ...idempotencyHeaders(outcome) };
}

const NONE = {};
const USED = { 'x-stability': 'experimental' };
