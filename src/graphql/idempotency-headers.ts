import type { Outcome } from './outcome';

/** The request header that holds an idempotency key. */
export const IDEMPOTENCY_KEY = 'idempotency-key';

/** The header of answers that were given before. */
export const IDEMPOTENT_REPLAYED = 'Idempotent-Replayed';

/** The headers of an answer to what came with an idempotency key; none for all else. */
export function idempotencyHeaders({ replayed }: Outcome): Readonly<Record<string, string>> {
  if (replayed === undefined) return NONE;
  return replayed ? { ...USED, [IDEMPOTENT_REPLAYED.toLowerCase()]: 'true' } : USED;
}

const NONE = {};
const USED = { 'x-stability': 'experimental' };
