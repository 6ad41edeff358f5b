import { ProblemError } from './errors';

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
