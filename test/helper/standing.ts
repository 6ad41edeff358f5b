import { parseRateLimit } from 'ratelimit-header-parser';
import { parseList } from 'structured-headers';

type Received = Record<string, string | string[] | number | undefined>;

/** What a response's headers say about the caller, according to third-party parsers. */
export interface Told {
  readonly limit: number;
  readonly remaining: number;
  /** Unix seconds. */
  readonly reset: number;
  /** Per window: quota, length, requests left, and for how many seconds. */
  readonly windows: Record<string, { q: number; w: number; r: number; t: number }>;
  readonly retryAfter: number | undefined;
}

/** Reads `X-RateLimit-*`, `RateLimit-Policy`, `RateLimit` and `Retry-After`. @throws Error if one is invalid. */
export function toldBy(received: Received): Told {
  const headers = new Headers();
  for (const [name, value] of Object.entries(received)) {
    if (value !== undefined) headers.set(name, String(value));
  }
  const policies = listOf(headers.get('ratelimit-policy'));
  const limits = listOf(headers.get('ratelimit'));
  const windows = Object.fromEntries(
    [...policies].map(([name, policy]) => [name, { ...policy, ...limits.get(name) }]),
  ) as Told['windows'];
  const retryAfter = headers.get('retry-after');

  // This parser would prefer the draft's newer fields, and parse them by the grammar of an older draft.
  headers.delete('ratelimit');
  const { limit, remaining, reset } = parseRateLimit(headers, { reset: 'unix' }) ?? {};
  if (limit === undefined || remaining === undefined || !reset) throw new Error('no X-RateLimit headers');
  const at = reset.getTime() / 1000;
  return {
    limit,
    remaining,
    reset: at,
    windows,
    retryAfter: retryAfter === null ? undefined : Number(retryAfter),
  };
}

function listOf(field: string | null): Map<string, Record<string, number>> {
  if (field === null) throw new Error('a RateLimit field is missing');
  return new Map(
    parseList(field).map(([name, parameters]) => [
      String(name),
      Object.fromEntries(parameters) as Record<string, number>,
    ]),
  );
}
