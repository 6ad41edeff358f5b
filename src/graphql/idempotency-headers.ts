import type { Outcome } from './outcome';

/** The request header with the idempotency key. */
export const IDEMPOTENCY_KEY = 'idempotency-key';

/** The response header that marks a replay. */
export const IDEMPOTENT_REPLAYED = 'Idempotent-Replayed';

/** The headers of a response to an operation with an idempotency key; none for others. */
export function idempotencyHeaders({ replayed }: Outcome): Readonly<Record<string, string>> {
  if (replayed === undefined) return NONE;
  return replayed ? { ...USED, [IDEMPOTENT_REPLAYED.toLowerCase()]: 'true' } : USED;
}

const NONE = {};
const USED = { 'x-stability': 'experimental' };
