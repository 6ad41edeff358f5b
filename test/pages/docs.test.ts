import { type Gateway, startGateway } from '../helper/gateway';
import { send } from '../rest/client';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

/** What an HTML page loads. */
function loadedBy(html: string): string[] {
  return [...html.matchAll(/<(?:link|script|img) [^>]*(?:src|href)="([^"]+)"/g)].map(([, url]) => String(url));
}

test.each(['/docs/rest', '/docs/rest/'])('GET %s is a page that loads everything from this server', async (path) => {
  const { status, headers, text } = await send(gateway, `GET ${path}`);
  expect(status).toBe(200);
  expect(headers['content-type']).toBe('text/html; charset=utf-8');
  expect(text).toContain('<title>Petstore Gateway 1.0.0</title>');
  const urls = loadedBy(text);
  expect(urls.length).toBeGreaterThan(4);
  for (const url of urls) {
    const { origin, pathname } = new URL(url, `http://localhost${path}`);
    expect(origin).toBe('http://localhost');
    expect([pathname, (await send(gateway, `GET ${pathname}`)).status]).toEqual([pathname, 200]);
  }
});

test('it fits on a phone, and links back to the start page', async () => {
  const { text } = await send(gateway, 'GET /docs/rest');
  expect(text).toContain('<meta name="viewport" content="width=device-width, initial-scale=1">');
  for (const path of ['/', '/graphql', '/graphiql']) expect(text).toMatch(RegExp(`<a [^>]*href="${path}"`));
});

test.each(['/docs/rest', '/docs/rest/'])('%s responds 405 to other methods', async (path) => {
  const { status, headers, json } = await send(gateway, `POST ${path}`);
  expect({ status, json, allow: headers.allow }).toMatchObject({
    status: 405,
    json: { code: 'METHOD_NOT_ALLOWED' },
    allow: 'GET, HEAD, OPTIONS',
  });
});

test('it shows the same document', async () => {
  const page = await send(gateway, 'GET /docs/rest/json');
  expect(page.json).toEqual((await send(gateway, 'GET /openapi.json')).json);
});

test('its policy allows nothing from elsewhere', async () => {
  const policy = String((await send(gateway, 'GET /docs/rest')).headers['content-security-policy']);
  expect(policy).toContain("default-src 'none'; script-src 'self';");
  expect(policy).not.toMatch(/https?:|\*|unsafe-eval/);
  const { text } = await send(gateway, 'GET /docs/rest/static/swagger-initializer.js');
  expect(text).toContain('validatorUrl: null');
});

test('the anchor that a deprecated operation links to exists', async () => {
  const { headers } = await send(gateway, 'GET /pets/1');
  expect(headers.link).toContain('</docs/rest#/Pets/getPet>; rel="deprecation"');
  const { text } = await send(gateway, 'GET /docs/rest/static/swagger-initializer.js');
  expect(text).toContain('deepLinking: true');
});

test.each(['/docs/rest', '/docs/rest/static/swagger-ui.css', '/openapi.json', '/openapi.yaml'])(
  '%s costs no quota',
  async (path) => {
    const before = await send(gateway, 'GET /pets');
    await send(gateway, `GET ${path}`);
    const after = await send(gateway, 'GET /pets');
    expect(Number(before.headers['x-ratelimit-remaining']) - Number(after.headers['x-ratelimit-remaining'])).toBe(1);
  },
);
