import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { buildSchema, parse, validate } from 'graphql';
import { emptyDatabase } from '../helper/database';
import { type Gateway, startGateway } from '../helper/gateway';
import { send } from '../rest/client';

/** What Chromium sends when it opens an address. */
const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8';
const PAGES = ['/', '/graphiql', '/graphql', '/docs/errors', '/docs', '/docs/limits'];

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const open = (path: string) => send(gateway, `GET ${path}`, undefined, { accept: BROWSER });

/** What a page loads. */
async function loadedBy(path: string): Promise<string[]> {
  const { text } = await open(path);
  return [...text.matchAll(/<(?:script|link|img)[^>]* (?:src|href)="([^"]+)"/g)].map(([, url]) => String(url));
}

describe.each(PAGES)('%s', (path) => {
  test('runs only scripts from files, and in no frame of another site', async () => {
    const { status, headers, text } = await open(path);
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(headers).toMatchObject({
      'cache-control': 'no-cache',
      'cross-origin-opener-policy': 'same-origin-allow-popups',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    });
    const policy = String(headers['content-security-policy']);
    expect(policy).toMatch(/^default-src 'none'; script-src 'self'/);
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain('unsafe');
    expect(text).not.toMatch(/<script(?![^>]*\bsrc=)|\son\w+=|\sstyle=/);
  });

  test('loads only cacheable files of this server', async () => {
    const urls = await loadedBy(path);
    expect(urls.length).toBeGreaterThan(2);
    for (const url of urls) {
      const { status, headers } = await send(gateway, `GET ${url}`);
      expect([url, status]).toEqual([url, 200]);
      expect(headers['x-content-type-options']).toBe('nosniff');
      expect(headers['cache-control']).toBe(
        url.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'public, max-age=86400',
      );
    }
  });
});

test('all pages but the first have the same links to the others', async () => {
  for (const path of [
    '/docs',
    '/docs/limits',
    '/docs/rest',
    '/docs/graphql',
    '/docs/errors',
    '/graphiql',
    '/graphql',
    '/admin',
  ]) {
    const [site = ''] = /<nav class="site"[\s\S]*?<\/nav>/.exec((await open(path)).text) ?? [];
    const links = [...site.matchAll(/href="([^"]+)">(\w+)</g)].map(([, href, name]) => `${name} ${href}`);
    expect([path, links]).toEqual([
      path,
      [
        'Guides /docs',
        'REST /docs/rest',
        'GraphQL /docs/graphql',
        'Errors /docs/errors',
        'Sandbox /graphql',
        'GraphiQL /graphiql',
        'Keys /admin',
      ],
    ]);
  }
});

test.each(['/docs/nope', '/docs/limits.md', '/docs/nowhere?x=<b>'])(
  '%s is no page, as browsers are told in one',
  async (path) => {
    const page = await open(path);
    expect(page.status).toBe(404);
    expect(page.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': expect.stringContaining("script-src 'self'"),
      'x-ratelimit-limit': expect.any(String),
      ratelimit: expect.any(String),
      'x-request-id': expect.any(String),
    });
    expect(page.headers).not.toHaveProperty('etag');
    expect(page.text).toContain('<h1>No such page</h1>');
    expect(page.text).toContain('id="search-button"');
    expect(page.text).toContain('href="/docs/limits"');
    const again = await open(path);
    expect(Number(again.headers['x-ratelimit-remaining'])).toBe(Number(page.headers['x-ratelimit-remaining']) - 1);
    for (const accept of ['*/*', 'application/json', undefined])
      expect(await send(gateway, `GET ${path}`, undefined, { accept })).toMatchObject({
        status: 404,
        json: { code: 'NOT_FOUND', status: 404 },
      });
    expect(await send(gateway, `POST ${path}`, undefined, { accept: BROWSER })).toMatchObject({
      status: 404,
      json: { code: 'NOT_FOUND' },
    });
  },
);

test('what is no page of the documentation has the error of REST, in a browser too', async () => {
  for (const path of ['/nowhere', '/pets/'])
    expect(await send(gateway, `GET ${path}`, undefined, { accept: BROWSER })).toMatchObject({
      status: 404,
      json: { code: 'NOT_FOUND', status: 404 },
    });
});

test.each(['/docs', '/admin', '/graphiql'])('%s is also there with a slash behind it', async (path) => {
  const [page, same] = [await open(path), await open(`${path}/`)];
  expect([same.status, same.text]).toEqual([200, page.text]);
});

test('only Sandbox may load anything from elsewhere: its script and its frame, from Apollo', async () => {
  const hosts = async (path: string) =>
    String((await open(path)).headers['content-security-policy']).match(/https?:[^\s;]+/g);
  expect(await hosts('/graphql')).toEqual([
    'https://embeddable-sandbox.cdn.apollographql.com',
    'https://sandbox.embed.apollographql.com',
  ]);
  expect([await hosts('/'), await hosts('/graphiql')]).toEqual([null, null]);
});

test('scripts are compressed for clients that accept it, with Vary', async () => {
  const url = (await loadedBy('/graphiql')).find((each) => each.endsWith('/vendor/graphiql.js'));
  const plain = await gateway.app.inject({ url });
  const zipped = await gateway.app.inject({ url, headers: { 'accept-encoding': 'br, gzip' } });
  const refused = await gateway.app.inject({ url, headers: { 'accept-encoding': 'gzip;q=0' } });
  for (const { headers } of [plain, refused]) expect(headers).not.toHaveProperty('content-encoding');
  expect(zipped.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'accept-encoding' });
  expect(plain.headers['content-type']).toBe('text/javascript; charset=utf-8');
  expect(gunzipSync(zipped.rawPayload).equals(plain.rawPayload)).toBe(true);
  expect(zipped.rawPayload.length).toBeLessThan(plain.rawPayload.length / 2);
});

test('Vary names what a response depends on, beside what CORS depends on', async () => {
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

test('assets of another version are not found', async () => {
  expect((await send(gateway, 'GET /assets/0123456789abcdef/page.css')).status).toBe(404);
  const [, path] = /(\/assets\/\w+)\//.exec((await open('/')).text) ?? [];
  expect((await send(gateway, `GET ${path}/page.css`)).status).toBe(200);
  expect((await send(gateway, `GET ${path}/../package.json`)).status).toBe(404);
  expect((await send(gateway, `GET ${path}/%2e%2e%2fpackage.json`)).status).toBe(404);
});

test.each<[string | undefined, string]>([
  [BROWSER, 'text/html; charset=utf-8'],
  ['text/html', 'text/html; charset=utf-8'],
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

test.each([...PAGES, '/docs/rest', '/docs/graphql'])('%s is open without a key where nothing else is', async (path) => {
  const closed = await gateway.another({ ANONYMOUS_ACCESS: 'none' });
  const { status } = await send(closed, `GET ${path}`, undefined, {
    accept: BROWSER,
    'x-api-key': undefined,
  });
  expect(status).toBe(200);
  await closed.close();
});

test('everything that the start page links to is open to everybody', async () => {
  const { text } = await open('/');
  const links = new Set([...text.matchAll(/<a [^>]*href="([^"]+)"/g)].map(([, url]) => String(url)));
  expect(links.size).toBeGreaterThan(6);
  for (const url of links) {
    const headers = { accept: BROWSER, 'x-api-key': undefined };
    const { statusCode } = await gateway.app.inject({ url, headers, remoteAddress: '203.0.113.7' });
    expect([url, statusCode]).toEqual([url, url === '/docs' ? expect.any(Number) : 200]);
  }
});

const SCHEMA = buildSchema(readFileSync(join(__dirname, '..', '..', 'schema.graphql'), 'utf8'));

test('the examples fit the schema and succeed, one after the other, in an empty store', async () => {
  await emptyDatabase(gateway.database);
  const text = readFileSync(join(__dirname, '..', '..', 'src', 'portal', 'public', 'examples.graphql'), 'utf8');
  const examples = text.split(/\n\n(?=#)/);
  expect(examples.length).toBeGreaterThan(4);
  for (const example of examples) {
    expect(example).toMatch(/^# .+\n(query|mutation|subscription) \w+/);
    if (/^subscription/m.test(example)) expect(validate(SCHEMA, parse(example))).toEqual([]);
    else expect(await gateway.graphql(example)).toMatchObject({ status: 200, errors: [] });
  }
});

describe('Sandbox at studio.apollographql.com', () => {
  const STUDIO = 'https://studio.apollographql.com';

  test('may send a key and its own headers, and read the quota', async () => {
    const { status, headers } = await send(gateway, 'OPTIONS /graphql', undefined, {
      origin: STUDIO,
      'access-control-request-method': 'POST',
      'access-control-request-headers':
        'content-type,x-api-key,authorization,apollographql-client-name,apollo-require-preflight',
    });
    expect(status).toBe(204);
    expect(headers['access-control-allow-origin']).toBe('*');
    expect(headers['access-control-allow-methods']).toContain('POST');
    for (const name of ['content-type', 'x-api-key', 'apollographql-client-name', 'apollo-require-preflight'])
      expect(headers['access-control-allow-headers']).toContain(name);
    const answer = await send(gateway, 'POST /graphql', { query: '{ __typename }' }, { origin: STUDIO });
    for (const name of ['X-RateLimit-Remaining', 'RateLimit', 'X-Request-Id', 'Retry-After'])
      expect(answer.headers['access-control-expose-headers']).toContain(name);
  });
});
