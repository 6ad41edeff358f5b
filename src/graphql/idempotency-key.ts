import { ProblemError } from './errors';

/** Visible characters; a token does not start with a quote. */
const TOKEN = /^[!#-~][!-~]{0,254}$/;
/** A string of structured fields (RFC 9651, section 3.3.3), without spaces. */
const STRING = /^"((?:[!#-[\]-~]|\\["\\])+)"$/;
const RULE = 'must be 1 to 255 visible ASCII characters, with or without quotes around them';

/**
 * The key that an `Idempotency-Key` header names (draft-ietf-httpapi-idempotency-key-header, section 2.1: a quoted string; a
 * bare token means the same).
 * @throws ProblemError `BAD_USER_INPUT`.
 */
export function parseIdempotencyKey(header: string): string {
  const quoted = STRING.exec(header)?.[1]?.replace(/\\(.)/g, '$1');
  const key = quoted ?? (TOKEN.test(header) ? header : '');
  if (key.length >= 1 && key.length <= 255) return key;
  throw new ProblemError('BAD_USER_INPUT', `Idempotency-Key: ${RULE}`, [
    { path: 'Idempotency-Key', message: RULE },
  ]);
}
