/** Headers of almost every response, with their usual values. The transcript shows them only if they differ or are missing. */
const USUAL: Readonly<Record<string, string>> = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers':
    'X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, RateLimit-Policy, RateLimit, Retry-After, ETag, Link, Location, X-Request-Id, Deprecation, Sunset, X-Stability, WWW-Authenticate, Accept-Patch, Idempotent-Replayed',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  vary: 'Accept, Authorization, Origin, X-API-Key',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Headers that the transcript omits, because they depend on the connection or the time. */
const OMITTED = new Set(['date', 'connection', 'keep-alive', 'content-length', 'transfer-encoding']);

const QUOTA = /^(x-ratelimit-|ratelimit)/;
const ISO_TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g;
const TWO_DAYS = 2 * 86_400_000;

export type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** Replaces values that differ from run to run. The same value gets the same name throughout a scenario. */
export class Normaliser {
  /** Texts left out of the transcript, because a change of wording is not a change of behaviour. */
  messages: string[] = [];
  private readonly names = new Map<string, string>();
  /** The entries of `names`, longest text first: a key contains an id, so the key must be replaced first. */
  private longestFirst: [string, string][] = [];
  private readonly ids: { field: RegExp; path: RegExp; name: string }[] = [];
  private keys = 0;
  private readonly etags = new Map<string, string>();
  /** For each caller, the windows in its last response: the remaining requests, and the ends as Unix times. */
  private readonly quotas = new Map<string, { lefts: readonly number[]; ends: readonly number[] }>();

  /** Shows `value`, a long text such as an API key, as `name`. */
  name(value: string, name: string): void {
    this.names.set(value, `«${name}»`);
    this.longestFirst = [...this.names].sort(([a], [b]) => b.length - a.length);
  }

  /** Replaces the API keys that a response creates, and their ids, with numbered names. */
  nameKeys(text: string): void {
    for (const [, key = '', id = ''] of text.matchAll(/"secret":"(ps_([0-9a-z]{12})_[0-9A-Za-z]{32})"/g)) {
      if (this.names.has(key)) continue;
      const number = ++this.keys;
      this.name(key, `key ${number}`);
      if (!this.names.has(id)) this.name(id, `id of key ${number}`);
    }
  }

  /** Shows the id of a resource as `name`. */
  nameId(id: string | number, name: string): void {
    this.ids.push({
      field: new RegExp(`("(?:id|petId|categoryId|orderId)":"?)${id}(?=["},])`, 'g'),
      path: new RegExp(`(/(?:pets|categories|orders|inventory)/|[?&]id=)${id}(?!\\d)`, 'g'),
      name: `$1«${name}»`,
    });
  }

  /** Normalises a text of a request or response. */
  text(text: string): string {
    let result = text;
    for (const [value, name] of this.longestFirst) result = result.replaceAll(value, name);
    for (const { field, path, name } of this.ids) result = result.replace(field, name).replace(path, name);
    return result
      .replace(ISO_TIME, (time) => (Math.abs(Date.parse(time) - Date.now()) < TWO_DAYS ? '«time»' : time))
      .replaceAll(new Date().toISOString().slice(0, 10), '«today»')
      .replace(/("requestId":)"[^"]*"/g, '$1«request id»')
      .replace(/("(?:cursor|startCursor|endCursor)":)"[^"]*"/g, '$1«cursor»')
      .replace(/([?&]cursor=)[^&>"]+/g, '$1«cursor»')
      .replace(/"(message|description|deprecationReason|reason)":"((?:[^"\\]|\\.)*)"/g, (all, field, value) =>
        field === 'message' || this.isIntrospection ? this.omit(field, value) : all,
      );
  }

  /** The remaining requests per window, from the quota headers of the last response. */
  private left: readonly number[] = [];

  /** Replaces the numbers of remaining requests in a body with `«left»` if they match the rate-limit headers. */
  private remaining(text: string): string {
    const [minute, day] = this.left;
    return text
      .replace(/"remaining":\{"minute":(\d+),"day":(\d+)\}/g, (all, m, d) =>
        Number(m) === minute && Number(d) === day ? '"remaining":«left»' : all,
      )
      .replace(/("name":"(minute|day)",(?:"limit":\d+,)?"remaining":)(\d+)/g, (all, before, name, value) =>
        Number(value) === (name === 'minute' ? minute : day) ? `${before}«left»` : all,
      );
  }

  /** Normalises a body. Call {@link headers} for the same response just before. */
  body(text: string): string {
    return this.remaining(this.text(text));
  }

  /** Whether the response is an introspection result. The transcript omits its descriptions. Other descriptions are data. */
  isIntrospection = false;

  private omit(field: string, value: string): string {
    this.messages.push(value.replace(/\b\d+ s\b/g, '«n» s').replace(/\b\d+ seconds?\b/g, '«n» seconds'));
    return `"${field}":«message»`;
  }

  /** The headers of a response to `caller`, one per line: first the quota, then the other headers sorted by name. */
  headers(headers: Headers, caller: string): string[] {
    const lines = Object.entries(headers)
      .filter(
        ([name, value]) =>
          !OMITTED.has(name) &&
          !QUOTA.test(name) &&
          USUAL[name] !== value &&
          !(name === 'x-request-id' && UUID.test(String(value))),
      )
      .map(([name, value]) => `${name}: ${this.header(name, [value].flat().join(', '))}`)
      .sort();
    const missing = [...Object.keys(USUAL), 'x-request-id']
      .filter((name) => headers[name] === undefined)
      .map((name) => `(no ${name})`);
    return [this.quota(headers, caller), ...lines, ...missing];
  }

  private header(name: string, value: string): string {
    if (name === 'etag') return this.etag(value);
    if (name === 'retry-after') return atMost(Number(value));
    return this.text(value);
  }

  private etag(value: string): string {
    const known = this.etags.get(value);
    if (known) return known;
    const name = `«${value.startsWith('"') ? '' : 'not strong '}etag ${this.etags.size + 1}»`;
    this.etags.set(value, name);
    return name;
  }

  /**
   * `quota 60/1000 -1/-1 in force minute`: the quotas per minute and day, by how much this request changed the remaining
   * requests, and the window that the `X-RateLimit-*` headers report.
   */
  quota(headers: Headers, caller: string): string {
    const [limit, remaining, reset, policy, left] = [
      'x-ratelimit-limit',
      'x-ratelimit-remaining',
      'x-ratelimit-reset',
      'ratelimit-policy',
      'ratelimit',
    ].map((name) => String(headers[name] ?? ''));
    if (!limit && !left) return 'no quota';
    const quotas = [...(policy ?? '').matchAll(/"(\w+)";q=(\d+);w=(\d+)/g)].map(([, name, q, w]) => ({ name, q, w }));
    const windows = [...(left ?? '').matchAll(/"(\w+)";r=(\d+);t=(\d+)/g)];
    const lefts = windows.map(([, , r]) => Number(r));
    const ends = windows.map(([, , , t]) => Date.now() / 1000 + Number(t));
    const before = this.quotas.get(caller);
    this.quotas.set(caller, { lefts, ends });
    this.left = lefts;
    const taken = lefts.map((now, i) => {
      const isSameWindow = before && Math.abs((ends[i] ?? 0) - (before.ends[i] ?? 0)) < 30;
      return now - (isSameWindow ? (before.lefts[i] ?? 0) : Number(quotas[i]?.q));
    });
    const isToldOne = quotas.some(({ q }, i) => q === limit && Number(remaining) === lefts[i]);
    const isReset = Math.abs(Number(reset) - Date.now() / 1000) < 90_000;
    const lengths = quotas.map(({ name, w }) => `${name}=${w}`).join(' ');
    const shown = lengths === 'minute=60 day=86400' ? '' : ` windows ${lengths}`;
    const which = quotas.findIndex(({ q }, i) => q === limit && Number(remaining) === lefts[i]);
    return `quota ${quotas.map(({ q }) => q).join('/')} ${taken.join('/')}${shown} in force ${quotas[which]?.name}${isToldOne && isReset ? '' : ` INCONSISTENT ${limit} ${remaining} ${reset} ${left}`}`;
  }
}

/** Rounds a number of seconds up, so that the transcript of a slower run is the same. */
function atMost(seconds: number): string {
  const bound = [0, 1, 2, 5, 10, 60, 120, 3600, 86_400].find((each) => seconds <= each);
  return Number.isInteger(seconds) ? `«at most ${bound} s»` : `NOT WHOLE ${seconds}`;
}
