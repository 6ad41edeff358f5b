type Received = Record<string, string | string[] | number | undefined>;

/** The rate limit of the caller according to the headers of a response. */
export interface Told {
  readonly limit: number;
  readonly remaining: number;
  /** Unix seconds. */
  readonly reset: number;
  /** Per window: the quota, the length, the requests left, and the seconds until the window ends. */
  readonly windows: Record<string, { q: number; w: number; r: number; t: number }>;
  readonly retryAfter: number | undefined;
}

/** Reads `X-RateLimit-*`, `RateLimit-Policy`, `RateLimit` and `Retry-After`. @throws Error if a header is invalid. */
export function toldBy(received: Received): Told {
  const limits = new Map(listOf(received.ratelimit));
  const windows = Object.fromEntries(
    listOf(received['ratelimit-policy']).map(([name, policy]) => [name, { ...policy, ...limits.get(name) }]),
  ) as Told['windows'];
  return {
    limit: integerOf(received['x-ratelimit-limit']),
    remaining: integerOf(received['x-ratelimit-remaining']),
    reset: integerOf(received['x-ratelimit-reset']),
    windows,
    retryAfter: received['retry-after'] === undefined ? undefined : integerOf(received['retry-after']),
  };
}

/** Parses a structured-field list of strings with integer parameters. @throws Error if the header has another form. */
function listOf(field: unknown): [name: string, parameters: Record<string, number>][] {
  return String(field)
    .split(', ')
    .map((item) => {
      const [, name = '', parameters = ''] = /^"([a-z]+)"((?:;[a-z]+=\d+)+)$/.exec(item) ?? [];
      if (!name) throw new Error(`not a structured field: ${field}`);
      const pairs = [...parameters.matchAll(/;([a-z]+)=(\d+)/g)].map(([, key, value]) => [key, Number(value)]);
      return [name, Object.fromEntries(pairs)];
    });
}

function integerOf(field: unknown): number {
  if (!/^\d+$/.test(String(field))) throw new Error(`not an integer: ${field}`);
  return Number(field);
}
