import { ProblemError } from '../errors/errors';
import type { Outcome } from './outcome';

/** The request header with the idempotency key. */
export const IDEMPOTENCY_KEY = 'idempotency-key';

/** The response header that marks a replay. */
export const IDEMPOTENT_REPLAYED = 'Idempotent-Replayed';

/** The headers of a response to an operation with an idempotency key; none for others. */
export function idempotencyHeaders({ replayed }: Pick<Outcome, 'replayed'>): Readonly<Record<string, string>> {
  if (replayed === undefined) return NONE;
  return replayed ? { ...USED, [IDEMPOTENT_REPLAYED.toLowerCase()]: 'true' } : USED;
}

/** All headers that the outcome of a GraphQL operation adds to its response. */
export function headersOf(outcome: Pick<Outcome, 'notice' | 'replayed'>): Readonly<Record<string, string>> {
  if (!outcome.notice) return idempotencyHeaders(outcome);
  // Idempotency keys are experimental, the lowest level, so their x-stability may override the notice's.
  return { ...outcome.notice.headers, ...idempotencyHeaders(outcome) };
}

const NONE = {};
const USED = { 'x-stability': 'experimental' };

/**
 * The syntax of an `Idempotency-Key` header: a structured-field string
 * (draft-ietf-httpapi-idempotency-key-header, section 2.1; RFC 9651, section 3.3.3) without spaces, or the same
 * unquoted, as most clients send it.
 */
export const IDEMPOTENCY_KEY_FORM = /^(?:([!#-~][!-~]{0,254})|"((?:[!#-[\]-~]|\\["\\]){1,255})")$/;

const RULE = 'must be 1 to 255 visible ASCII characters, with or without quotes around them';

/** The key in a header, with or without quotes. @throws ProblemError `BAD_USER_INPUT`. */
export function parseIdempotencyKey(header: string): string {
  const [, token, quoted] = IDEMPOTENCY_KEY_FORM.exec(header) ?? [];
  const key = token ?? quoted?.replace(/\\(.)/g, '$1');
  if (key !== undefined) return key;
  const path = 'Idempotency-Key';
  throw new ProblemError('BAD_USER_INPUT', `${path}: ${RULE}`, [{ path, message: RULE }]);
}
