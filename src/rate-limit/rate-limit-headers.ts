import type { LimitStatus, Window } from './limit-status';
import { type Quota, WINDOWS } from './plans';

/** Every header {@link rateLimitHeaders} may set, for `Access-Control-Expose-Headers`. */
export const RATE_LIMIT_HEADER_NAMES = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'RateLimit-Policy',
  'RateLimit',
  'Retry-After',
] as const;

/**
 * The headers that report a caller's status:
 * - `X-RateLimit-*`: the window in force (docs/specification.md, "Limits"), with the reset time in Unix seconds;
 * - `RateLimit-Policy` and `RateLimit`: both windows (draft-ietf-httpapi-ratelimit-headers-11), and the limit on free
 *   requests if it was exceeded;
 * - `Retry-After`: seconds, on a rejection (RFC 9110, section 10.2.3).
 *
 * Times are rounded up, so that a client that follows them never retries too early. Names are in lower case, as they are
 * sent.
 */
export function rateLimitHeaders(status: LimitStatus, now: number): Record<string, string> {
  const { inForce, windows, quota, verdict, retryAfterMs } = status;
  let policy = policyOf(quota);
  let limits = `${limitOf(windows[0], now)}, ${limitOf(windows[1], now)}`;
  if (inForce.name === 'uncounted') {
    policy += `, "uncounted";q=${inForce.limit};w=${inForce.seconds}`;
    limits += `, ${limitOf(inForce, now)}`;
  }
  const headers: Record<string, string> = {
    'x-ratelimit-limit': count(inForce.limit),
    'x-ratelimit-remaining': count(inForce.remaining),
    'x-ratelimit-reset': count(inForce.resetAt / 1000),
    'ratelimit-policy': policy,
    ratelimit: limits,
  };
  if (verdict === 'limited' || verdict === 'banned') {
    const seconds = (retryAfterMs ?? 0) / 1000;
    headers['retry-after'] = seconds > 1 ? count(seconds) : '1';
  }
  return headers;
}

/** A cache of policies by quota object. The numbers in a quota never change. */
const policies = new WeakMap<Quota, string>();

function policyOf(quota: Quota): string {
  let policy = policies.get(quota);
  if (policy === undefined) {
    policy = `"minute";q=${count(quota.perMinute)};w=${WINDOWS.minute}, "day";q=${count(quota.perDay)};w=${WINDOWS.day}`;
    policies.set(quota, policy);
  }
  return policy;
}

function limitOf(window: Window, now: number): string {
  return `"${window.name}";r=${count(window.remaining)};t=${count((window.resetAt - now) / 1000)}`;
}

/** The largest Integer of a structured field (RFC 9651, section 3.3.1). */
const LARGEST = 999_999_999_999_999;

/** An integer for a header, from any input: rounded up, never negative, never NaN. */
function count(value: number): string {
  return value > 0 ? String(Math.ceil(Math.min(value, LARGEST))) : '0';
}
