import { type Told, toldBy } from '../helper/standing';
import type { Request } from './requests';

/** Headers of every response, on the caller and the response, which scripts of other origins may read. */
export function checkHeaders(
  status: number,
  headers: Record<string, string>,
  { isCrossOrigin = true, isChange = false } = {},
): void {
  const told = toldBy(headers);
  const now = Date.now() / 1000;
  expect(Object.keys(told.windows).slice(0, 2)).toEqual(['minute', 'day']);
  const lengths = { minute: 60, day: 86_400, uncounted: 60 };
  for (const [name, { q, w, r, t }] of Object.entries(told.windows)) {
    expect(w).toBe(lengths[name as keyof typeof lengths]);
    expect([r >= 0 && r <= q, t >= 0 && t <= w]).toEqual([true, true]);
  }
  const inForce = Object.values(told.windows).find(({ q, r }) => q === told.limit && r === told.remaining);
  expect(Math.abs(told.reset - now - (inForce?.t ?? Number.NaN))).toBeLessThan(5);
  expect(headers['x-request-id']).toMatch(/^[\w-]{36}$/);
  checkRetryAfter(status, told);
  expect('www-authenticate' in headers).toBe(status === 401);
  checkProtection(status, headers, isChange);
  if (!isCrossOrigin) return;
  const exposed = headers['access-control-expose-headers']?.toLowerCase().split(', ') ?? [];
  const carried = Object.keys(headers).filter((name) =>
    /^(x-(?!content-type-options|frame-options)|ratelimit|retry-after|www-authenticate|etag|link|location|deprecation|sunset)/.test(
      name,
    ),
  );
  expect(carried.filter((name) => !exposed.includes(name))).toEqual([]);
  expect(headers['access-control-allow-origin']).toBe('*');
}

/** Nothing specific to a caller is cached, no type is sniffed, and the software is not named. */
function checkProtection(status: number, headers: Record<string, string>, isChange: boolean): void {
  expect(headers).not.toHaveProperty('x-powered-by');
  expect(headers).not.toHaveProperty('server');
  const isForAll = headers['cache-control']?.startsWith('public') ?? false;
  const varies = isForAll ? [] : ['Accept', 'Authorization', 'Origin', 'X-API-Key'];
  expect(headers.vary?.split(', ') ?? []).toEqual(expect.arrayContaining(varies));
  if (headers['content-type']?.startsWith('text/html')) return;
  expect(headers).toMatchObject({
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'content-security-policy': expect.stringContaining("frame-ancestors 'none'"),
    'referrer-policy': 'no-referrer',
    ...(!isForAll && { 'cache-control': headers.etag && !isChange ? 'private, no-cache' : 'no-store' }),
  });
  if (status !== 304)
    expect('content-type' in headers).toBe(
      headers['content-length'] !== undefined && headers['content-length'] !== '0',
    );
}

function checkRetryAfter(status: number, { retryAfter }: Told): void {
  if (status !== 429 && status !== 503) expect(retryAfter).toBeUndefined();
  else expect(Number.isInteger(retryAfter) && Number(retryAfter) >= 1).toBe(true);
}

/** A refusal links to the description of its code, whatever the interface; nothing else does. */
export function checkHelp(status: number, headers: Record<string, string>, body: string): void {
  const codes = new Set([...body.matchAll(/"code":"(\w+)"/g)].map(([, code]) => code));
  const [code] = status >= 400 && codes.size === 1 ? codes : [];
  const help = (headers.link ?? '').split(', ').filter((link) => link.endsWith('rel="help"'));
  expect([status, help]).toEqual([status, code ? [`</docs/errors#${code.toLowerCase()}>; rel="help"`] : []]);
}

const INTERNAL = /node_modules|\.[jt]s\b|at \S+:\d+|prisma|select |ECONN|10\.0\.0\.5|stack|classified/i;

/** An error has the shape of its interface, and reveals no internals. */
export function checkBody({ path, graphql, method, status, code }: Omit<Request, 'name'>, body: string): void {
  if (status === 204 || status === 304 || method === 'HEAD') {
    expect(body).toBe('');
    return;
  }
  if (!code) return;
  const isGraphQL = graphql !== undefined || path?.split('?')[0] === '/graphql';
  const parsed = JSON.parse(body);
  const problem = isGraphQL ? { message: parsed.errors[0].message, ...parsed.errors[0].extensions } : parsed;
  expect(problem).toMatchObject({ code, message: expect.stringMatching(/\w/) });
  expect(problem.status).toBe(status === 200 ? 500 : status);
  expect(body).not.toMatch(INTERNAL);
}
