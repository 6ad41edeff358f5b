import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { buildSchema, parse, validate } from 'graphql';
import { emptyDatabase } from '../helper/database';
import { type Gateway, startGateway } from '../helper/gateway';
import { send } from '../rest/client';

/** The Accept header that Chromium sends when it opens a page. */
const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8';
const HTML = 'text/html; charset=utf-8';
const APOLLO = 'https://sandbox.embed.apollographql.com';
const PAGES = [...['/', '/graphiql', '/graphql', '/admin', '/docs', '/docs/limits', '/docs/rest', '/docs/errors']];

let gateway: Gateway;
let closed: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
  closed = await gateway.another({ ANONYMOUS_ACCESS: 'none' });
});
afterAll(async () => {
  await closed.close();
  await gateway.close();
});

const open = (path: string) => send(gateway, `GET ${path}`, undefined, { accept: BROWSER });
const get = (url: string, headers: Record<string, string> = {}) => gateway.app.inject({ url, headers });

/** The distinct values of an attribute in a page. */
const valuesOf = (html: string, attribute: string) => [
  ...new Set([...html.matchAll(new RegExp(`\\s${attribute}="([^"]+)"`, 'g'))].map(([, value]) => String(value))),
];

describe.each(PAGES)('%s', (path) => {
  test('is served without a key, and allows only scripts that are files of this server', async () => {
    const { status, headers, text } = await send(closed, `GET ${path}`, undefined, {
      accept: BROWSER,
      'x-api-key': undefined,
    });
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      'content-type': HTML,
      'cache-control': 'no-cache',
      'cross-origin-opener-policy': 'same-origin-allow-popups',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    });
    const policy = String(headers['content-security-policy']);
    expect(policy).toMatch(/^default-src 'none'; script-src 'self';/);
    expect(policy).toContain("frame-ancestors 'none'");
    // Swagger UI sets inline styles.
    const unsafe = path === '/docs/rest' ? ["style-src 'self' 'unsafe-inline'"] : [];
    expect(policy.split('; ').filter((directive) => directive.includes('unsafe'))).toEqual(unsafe);
    const outside = policy.split('; ').filter((directive) => /https?:/.test(directive));
    const sandbox = [`connect-src 'self' ${APOLLO}`, `frame-src ${APOLLO}`];
    expect(outside).toEqual(path === '/graphql' ? sandbox : []);
    expect(/<script[^>]*>/.exec(text)?.[0]).toMatch(/\/key-link\.js" type="module">$/);
    expect(text).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\son\w+=|\sstyle=/);
  });

  test('loads only cacheable files of this server', async () => {
    const { text } = await open(path);
    const tags = text.match(/<(?:script|link rel="(?:stylesheet|icon)|img)[^>]*>/g) ?? [];
    const urls = [...valuesOf(tags.join(), 'src'), ...valuesOf(tags.join(), 'href')];
    expect(urls.length).toBeGreaterThan(2);
    for (const url of urls) {
      const { statusCode, headers } = await get(url);
      const age = url.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'public, max-age=86400';
      expect([url, statusCode, headers['cache-control']]).toEqual([url, 200, age]);
      expect(headers['x-content-type-options']).toBe('nosniff');
    }
  });
});

test('every link leads to an existing page and anchor', async () => {
  const known = new Map<string, string>();
  const read = async (path: string) => {
    const text = known.get(path) ?? (await open(path)).text;
    known.set(path, text);
    return text;
  };
  const missing: string[] = [];
  const contents = valuesOf(/<nav class="contents"[\s\S]*?<\/nav>/.exec(await read('/docs'))?.[0] ?? '', 'href');
  for (const page of [...new Set([...PAGES, ...contents])]) {
    const html = await read(page);
    for (const href of [...valuesOf(html, 'href'), ...valuesOf(html, 'src')]) {
      if (/^https?:/.test(href)) continue;
      const { pathname, hash } = new URL(href, `http://gateway${page}`);
      const anchor = decodeURIComponent(hash.slice(1));
      const target = await read(pathname);
      if (/"code":"NOT_FOUND"|<h1>No such page/.test(target)) missing.push(`${page}: ${href}`);
      else if (anchor && !target.includes(`id="${anchor}"`)) missing.push(`${page}: ${href}`);
    }
  }
  expect(missing).toEqual([]);
  expect(known.size).toBeGreaterThan(25);
});

test('all pages have the same navigation, and the start page links to the schema and the OpenAPI document', async () => {
  const SITE = [
    ...['Guides /docs', 'REST /docs/rest', 'Errors /docs/errors', 'Sandbox /graphql', 'GraphiQL /graphiql'],
    'Keys /admin',
  ];
  for (const path of PAGES) {
    const [site = ''] = /<nav class="site row"[\s\S]*?<\/nav>/.exec((await open(path)).text) ?? [];
    const links = [...site.matchAll(/href="([^"]+)"(?: aria-current="page")?>(\w+)</g)].map(
      ([, href, name]) => `${name} ${href}`,
    );
    expect([path, links]).toEqual([path, SITE]);
  }
  const links = valuesOf((await open('/')).text, 'href');
  const others = ['/schema.graphql', '/openapi.json', '/openapi.yaml', '/livez', '/readyz'];
  expect(links).toEqual(expect.arrayContaining(others));
});

test.each([
  '/docs/nope',
  '/docs/limits.md',
  '/docs/nowhere?x=<b>',
  '/docs/..%2fpackage',
  '/nope',
  '/pets/',
  '/pets/1/toys',
  '/graphql/nope',
])('GET %s returns a 404 page to browsers and a JSON error to other clients, and counts as a request', async (path) => {
  const page = await open(path);
  expect(page).toMatchObject({ status: 404, headers: { 'content-type': HTML, ratelimit: expect.any(String) } });
  expect(page.headers['content-security-policy']).toContain("script-src 'self'");
  expect(page.headers).not.toHaveProperty('etag');
  expect(page.text).toContain('<h1>No such page</h1>');
  expect(page.text).toContain('href="/docs/limits"');
  const again = await open(path);
  expect(Number(again.headers['x-ratelimit-remaining'])).toBe(Number(page.headers['x-ratelimit-remaining']) - 1);
  const error = { status: 404, json: { code: 'NOT_FOUND', status: 404 } };
  for (const accept of ['*/*', 'application/json', undefined])
    expect(await send(gateway, `GET ${path}`, undefined, { accept })).toMatchObject(error);
  expect(await send(gateway, `POST ${path}`, undefined, { accept: BROWSER })).toMatchObject(error);
});

test('GET of a pet that does not exist returns a JSON error, even to browsers', async () => {
  expect(await open('/pets/999999')).toMatchObject({ status: 404, json: { code: 'NOT_FOUND', status: 404 } });
});

test.each([
  ['/docs/', '/docs'],
  ['/docs/limits/', '/docs/limits'],
  ['/docs/rest/', '/docs/rest'],
  ['/admin/', '/admin'],
  ['/graphiql/', '/graphiql'],
  ['/docs/graphql', '/graphiql'],
])('%s redirects to %s', async (path, location) => {
  expect(await open(path)).toMatchObject({ status: 301, headers: { location } });
});

test.each([
  'architecture',
  'decisions',
  'dependencies',
  'releases',
  'changelog',
  'contributing',
  'security',
  'benchmarks',
])('/docs/%s, which is for contributors, is not served', async (name) => {
  expect((await open(`/docs/${name}`)).status).toBe(404);
});

test('asset paths with a different version, and paths outside the asset directory, get 404', async () => {
  const [, path] = /(\/assets\/\w+)\//.exec((await open('/')).text) ?? [];
  const paths = ['/assets/0123456789abcdef/site.css', `${path}/../package.json`, `${path}/%2e%2e%2fpackage.json`];
  for (const each of paths) expect([each, (await get(each)).statusCode]).toEqual([each, 404]);
  expect((await get(`${path}/site.css`)).statusCode).toBe(200);
});

test.each<[accept: string | undefined, type: string]>([
  [BROWSER, HTML],
  ['text/html', HTML],
  ['application/json, text/html;q=0.9', 'application/json; charset=utf-8'],
  ['application/graphql-response+json', 'application/graphql-response+json; charset=utf-8'],
  ['*/*', 'application/json; charset=utf-8'],
  [undefined, 'application/json; charset=utf-8'],
])('GET /graphql with Accept %s returns %s', async (accept, type) => {
  const { headers } = await send(gateway, 'GET /graphql?query={__typename}', undefined, {
    accept,
    'apollo-require-preflight': '1',
  });
  expect(headers['content-type']).toBe(type);
});

test('the header Vary names all request headers on which a response depends, including Origin', async () => {
  const listed = await gateway.another({ CORS_ORIGINS: 'https://shop.example' });
  for (const [path, vary] of [
    ['/graphql', 'Accept, Authorization, Origin, X-API-Key, accept-encoding'],
    ['/favicon.svg', 'Origin, accept-encoding'],
  ] as const) {
    const { headers } = await send(listed, `GET ${path}`, undefined, { accept: BROWSER });
    expect([path, headers.vary]).toEqual([path, vary]);
  }
  await listed.close();
});

const DOCUMENTS = ['/openapi.json', '/openapi.yaml', '/schema.graphql', '/docs', '/docs/search.json'];

describe.each([...DOCUMENTS, '/assets/graphiql.js'])('%s', (path) => {
  let url = path;
  beforeAll(async () => {
    if (path.startsWith('/assets'))
      url = valuesOf((await open('/graphiql')).text, 'src').find((each) => each.endsWith('/vendor/graphiql.js')) ?? '';
  });

  test('is compressed for clients that accept gzip', async () => {
    const plain = await get(url);
    const zipped = await get(url, { 'accept-encoding': 'br, gzip' });
    const refused = await get(url, { 'accept-encoding': 'gzip;q=0' });
    for (const { headers } of [plain, refused]) expect(headers).not.toHaveProperty('content-encoding');
    expect([zipped.headers['content-encoding'], zipped.headers.vary]).toEqual(['gzip', plain.headers.vary]);
    expect(plain.headers.vary).toContain('accept-encoding');
    expect(zipped.headers['content-type']).toBe(plain.headers['content-type']);
    expect(gunzipSync(zipped.rawPayload).equals(plain.rawPayload)).toBe(true);
    expect(zipped.rawPayload.length).toBeLessThan(plain.rawPayload.length / 2);
    const head = await gateway.app.inject({ method: 'HEAD', url, headers: { 'accept-encoding': 'gzip' } });
    expect([head.headers['content-length'], head.body]).toEqual([String(zipped.rawPayload.length), '']);
  });
});

describe.each(DOCUMENTS)('%s', (url) => {
  test('has a strong ETag for each encoding, and returns 304 if the client sends the same ETag', async () => {
    const ask = async (encoding: string, known = '') => {
      const { statusCode, headers } = await get(url, { 'accept-encoding': encoding, 'if-none-match': known });
      return [statusCode, headers.etag, headers['content-encoding']];
    };
    const [[, plain], [, zipped]] = [await ask('identity'), await ask('gzip')];
    for (const each of [plain, zipped]) expect(each).toMatch(/^"[\w-]+"$/);
    expect(plain).not.toBe(zipped);
    expect(await ask('identity', String(plain))).toEqual([304, plain, undefined]);
    expect(await ask('gzip', String(zipped))).toEqual([304, zipped, undefined]);
    expect(await ask('gzip', String(plain))).toEqual([200, zipped, 'gzip']);
    expect(await ask('identity', String(zipped))).toEqual([200, plain, undefined]);
  });

  test('uses no quota, reports the remaining quota, and rejects POST', async () => {
    const [first, second] = [await get(url), await get(url)];
    expect(second.headers['x-ratelimit-remaining']).toBe(first.headers['x-ratelimit-remaining']);
    expect(second.headers['ratelimit-policy']).toMatch(/^"minute"/);
    if (!url.startsWith('/docs')) expect(first.headers['cache-control']).toBe('private, no-cache');
    const post = await send(gateway, `POST ${url}`);
    expect([post.status, post.headers.allow]).toEqual([405, 'GET, HEAD, OPTIONS']);
  });
});

test('/schema.graphql is the committed schema', async () => {
  const { text, headers } = await send(gateway, 'GET /schema.graphql');
  const committed = readFileSync(join(__dirname, '..', '..', 'schema.graphql'), 'utf8');
  expect([headers['content-type'], text]).toEqual(['application/graphql; charset=utf-8', committed]);
});

test('the GraphQL examples match the schema, and succeed one after the other in an empty store', async () => {
  await emptyDatabase(gateway.database);
  const schema = buildSchema((await send(gateway, 'GET /schema.graphql')).text);
  const text = readFileSync(join(__dirname, '..', '..', 'src', 'portal', 'public', 'examples.graphql'), 'utf8');
  const examples = text.split(/\n\n(?=#)/);
  expect(examples.length).toBeGreaterThan(4);
  for (const example of examples) {
    expect(example).toMatch(/^# .+\n(query|mutation|subscription) \w+/);
    if (/^subscription/m.test(example)) expect(validate(schema, parse(example))).toEqual([]);
    else expect(await gateway.graphql(example)).toMatchObject({ status: 200, errors: [] });
  }
});

test('Sandbox at studio.apollographql.com may send a key and its own headers, and read the quota', async () => {
  const origin = 'https://studio.apollographql.com';
  const sent = ['content-type', 'x-api-key', 'authorization', 'apollographql-client-name', 'apollo-require-preflight'];
  const { status, headers } = await send(gateway, 'OPTIONS /graphql', undefined, {
    origin,
    'access-control-request-method': 'POST',
    'access-control-request-headers': sent.join(),
  });
  expect([status, headers['access-control-allow-origin']]).toEqual([204, '*']);
  expect(headers['access-control-allow-methods']).toContain('POST');
  for (const name of sent) expect(headers['access-control-allow-headers']).toContain(name);
  const answer = await send(gateway, 'POST /graphql', { query: '{ __typename }' }, { origin });
  for (const name of ['X-RateLimit-Remaining', 'RateLimit', 'X-Request-Id', 'Retry-After'])
    expect(answer.headers['access-control-expose-headers']).toContain(name);
});
