import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { subjectOfAddress } from '../../rate-limit/client-address';

export const WRONG_KEY = 'The API key is malformed, unknown, revoked or expired.';

/** A whole key, and the rate-limit subject of its client's address. */
export interface PresentedKey {
  readonly whole: string;
  readonly address: string;
}

/** The key of a request, kept for connections and subscriptions that check it again. */
export function keyOf(request: FastifyRequest): PresentedKey | undefined {
  const whole = presentedKey(request);
  return whole === undefined ? undefined : { whole, address: subjectOfAddress(request.ip) };
}

/** `X-API-Key`, or the credentials of `Authorization: Bearer` (RFC 6750, section 2.1). */
export function presentedKey({ headers }: { headers: IncomingHttpHeaders }): string | undefined {
  const key = headers['x-api-key'];
  if (key !== undefined) return String(key);
  const { authorization } = headers;
  if (authorization === undefined) return undefined;
  return /^bearer +/i.test(authorization) ? authorization.replace(/^bearer +/i, '').trimEnd() : '';
}
