import { type Answer, type Caller, type Net, type Options, type Scenario, send } from '../scenario';

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8';

const PAGES = ['/', '/docs', '/graphiql', '/admin', '/graphql', '/favicon.svg', '/favicon.ico'];

const GUIDES = [
  'getting-started',
  'graphql-clients',
  'relay',
  'live-events',
  'trusted-documents',
  'federation',
  'rest-clients',
  'idempotency',
  'error-handling',
  'deprecation',
  'keys',
  'limits',
  'usage',
  'bounds',
  'configuration',
  'operations',
  'scaling',
  'postgresql',
  'redis',
  'compatibility',
];

const DOCUMENTS = ['/openapi.json', '/openapi.yaml', '/schema.graphql'];

const MISSING = [
  '/docs/nope',
  '/docs/limits.md',
  '/docs/nowhere?x=<b>',
  '/docs/..%2fpackage',
  '/docs/../package.json',
  '/..%2f..%2fetc%2fpasswd',
  '/assets/0123456789abcdef/page.css',
  '/assets/../package.json',
  '/favicon.png',
  '/wp-login.php',
];

const TRAVERSALS = ['/../package.json', '/%2e%2e%2fpackage.json', '/..%5cpackage.json', '/nothing.js', '/', ''];

function outcome({ status, json }: Answer): string {
  const code = json?.errors?.[0].extensions.code ?? json?.code;
  return code ? `${status} ${code}` : String(status);
}

const ORIGINS = [
  'https://shop.example',
  'http://localhost:3000',
  'https://evil.example',
  'http://shop.example',
  'null',
];

async function browse(net: Net): Promise<void> {
  const as = net.anonymous(1);
  const preflight = {
    'access-control-request-method': 'PATCH',
    'access-control-request-headers': 'content-type,x-api-key,idempotency-key,if-match',
  };
  for (const origin of ORIGINS) {
    await net.rest('GET /pets', { as, headers: { origin } });
    await net.rest('OPTIONS /pets/1', { as, headers: { origin, ...preflight } });
    await net.rest('OPTIONS /graphql', { as, headers: { origin, 'access-control-request-method': 'POST' } });
  }
  await net.graphql('{ __typename }', undefined, { as, headers: { origin: 'https://evil.example' } });
  await net.rest('GET /pets/999', { as, headers: { origin: 'https://shop.example' } });
  await net.rest('GET /nothing', { as, headers: { origin: 'https://evil.example' } });
  await net.rest('GET /livez', { as, headers: { origin: 'https://evil.example' } });
  await net.rest('OPTIONS /pets', { as, title: 'no preflight' });
  await net.rest('OPTIONS /nothing', { as, headers: { origin: 'https://shop.example', ...preflight } });
}

/** The names and types of the gateway's own metrics. */
function metricNames(text: string): string {
  const types = [...text.matchAll(/^# TYPE (petstore_\S+) (\w+)$/gm)].map(([, name, type]) => `${name} ${type}`);
  return types
    .filter((line) => !/replica|workers/.test(line))
    .sort()
    .join('\n');
}

/** Paths of files that the start page loads. The transcript shows `«style sheet»` and `«script»` for them. */
async function assetsOf(net: Net): Promise<{ assets: string; style: string; script: string }> {
  const { text } = await net.exchange('GET', '/', { as: net.anonymous(9) });
  const style = /href="(\/[^"]+\.css)"/.exec(text)?.[1] ?? '';
  const script = /src="(\/[^"]+\.js)"/.exec(text)?.[1] ?? '';
  net.hide(style, 'style sheet');
  net.hide(script, 'script');
  return { assets: style.slice(0, style.lastIndexOf('/')), style, script };
}

const ELSEWHERE: Caller = { name: 'anonymous elsewhere', headers: { 'x-forwarded-for': '203.0.113.9' } };

export const scenarios: Scenario[] = [
  {
    name: 'operation portal',
    once: true,
    run: async (net) => {
      const as = net.anonymous(1);
      const { assets, style, script } = await assetsOf(net);
      const browser = { accept: BROWSER };
      for (const path of PAGES) await net.rest(`GET ${path}`, { as, headers: browser });
      await net.rest('GET /docs/limits', { as, headers: browser });
      await net.rest('GET /docs/configuration', { as, headers: browser });
      for (const path of DOCUMENTS) await net.rest(`HEAD ${path}`, { as });
      await net.rest('HEAD /', { as });
      await net.rest('HEAD /docs/limits', { as });
      await net.rest('HEAD /docs/search.json', { as });
      for (const path of [style, script]) await net.rest(`HEAD ${path}`, { as });

      const guides: string[] = [];
      for (const name of GUIDES) {
        const { status, headers, text } = await net.exchange('GET', `/docs/${name}`, { as, headers: browser });
        const hasTitle = /<h1[^>]*>[^<]+<\/h1>|<h1/.test(text);
        guides.push(`${name}: ${status} ${headers['content-type']}, with a heading: ${hasTitle}`);
      }
      net.note('guides', guides.join('\n'));
      const variants: string[] = [];
      for (const path of [
        '/docs/',
        '/graphiql/',
        '/admin/',
        '/docs/limits/',
        '/DOCS',
        '//docs',
        '/graphql/',
        '/pets/',
      ]) {
        const answer = await net.exchange('GET', path, { as, headers: browser });
        variants.push(`${path}: ${outcome(answer)} ${answer.headers['content-type']} ${answer.headers.location ?? ''}`);
      }
      net.note('paths in other spellings', variants.join('\n'));

      for (const path of MISSING) await net.rest(`GET ${path}`, { as: net.anonymous(2) });
      await net.rest('GET /docs/nope', { as: net.anonymous(2), headers: browser });
      await net.rest('GET /nothing', { as: net.anonymous(2), headers: browser });
      await net.rest('POST /docs/nope', { as: net.anonymous(2), headers: browser });
      await net.rest('POST /', { as: net.anonymous(2) });
      await net.rest('DELETE /docs/limits', { as: net.anonymous(2) });
      await net.rest('OPTIONS /docs', { as: net.anonymous(2) });
      const traversals: string[] = [];
      for (const path of TRAVERSALS)
        traversals.push(`«assets»${path}: ${outcome(await net.exchange('GET', `${assets}${path}`, { as }))}`);
      net.note('files below the assets', traversals.join('\n'));

      const accepts = ['text/html', 'application/json, text/html;q=0.9', '*/*', 'application/graphql-response+json'];
      for (const accept of accepts) {
        const { status, headers } = await net.exchange('GET', '/graphql?query=%7B__typename%7D', {
          as,
          headers: { accept, 'apollo-require-preflight': '1' },
        });
        net.note(`GET /graphql with Accept: ${accept}`, `${status} ${headers['content-type']}`);
      }

      const loaded: string[] = [];
      for (const path of ['/', '/docs/limits', '/graphiql', '/admin']) {
        const { text } = await net.exchange('GET', path, { as: net.anonymous(3), headers: browser });
        const urls = [...text.matchAll(/<(?:script|link|img)[^>]* (?:src|href)="([^"]+)"/g)].map(([, url]) => url);
        const answers = await Promise.all(
          urls.map((url) => net.exchange('GET', String(url), { as: net.anonymous(3) })),
        );
        const areThere = answers.every(({ status }) => status === 200);
        const isSafe = !/<script(?![^>]*\bsrc=)|\son\w+=|\sstyle=/.test(text);
        loaded.push(`${path}: all files are here: ${areThere}, no inline scripts or styles: ${isSafe}`);
      }
      net.note('what pages load', loaded.join('\n'));
    },
  },
  {
    name: 'operation caching',
    once: true,
    run: async (net) => {
      const as = net.anonymous(1);
      const { style } = await assetsOf(net);
      await net.shop();
      const headers = (more: Record<string, string | undefined>): Options => ({ as, headers: more });
      for (const path of ['/', '/docs/limits', '/openapi.json', style, '/pets/1', '/pets?limit=2']) {
        const { etag } = (await net.exchange('GET', path, { as })).headers;
        await net.rest(`GET ${path}`, headers({ 'if-none-match': etag }));
        await net.rest(`HEAD ${path}`, headers({ 'if-none-match': etag }));
        await net.rest(`HEAD ${path}`, headers({ 'if-none-match': '"another", "one"' }));
        const zipped = await net.rest(`HEAD ${path}`, headers({ 'accept-encoding': 'br, gzip' }));
        await net.rest(`GET ${path}`, {
          ...headers({ 'accept-encoding': 'br, gzip', 'if-none-match': zipped.headers.etag }),
        });
      }
      await net.rest('GET /', headers({ 'if-none-match': '*' }));
      await net.rest('HEAD /', headers({ 'accept-encoding': 'gzip;q=0' }));
      await net.rest('HEAD /', headers({ 'accept-encoding': 'identity' }));
      const { etag } = (await net.exchange('GET', '/pets/1', { as })).headers;
      await net.rest('PATCH /pets/1', { body: { name: 'Renamed' } });
      await net.rest('GET /pets/1', { ...headers({ 'if-none-match': etag }), title: 'after a change' });
      await net.rest('GET /pets/1', { ...headers({ 'if-none-match': `W/${etag}` }) });
      await net.rest('GET /rate_limit', headers({ 'if-none-match': '*' }));
    },
  },
  {
    name: 'operation CORS for any origin',
    once: true,
    run: browse,
  },
  {
    name: 'operation CORS for some origins',
    once: true,
    settings: { CORS_ORIGINS: 'https://shop.example, http://localhost:3000' },
    run: async (net) => {
      await browse(net);
      await net.rest('HEAD /', { as: net.anonymous(2), headers: { origin: 'https://shop.example' } });
    },
  },
  {
    name: 'operation health and metrics',
    once: true,
    run: async (net) => {
      const as = net.anonymous(1);
      for (const path of ['/livez', '/readyz']) {
        await net.rest(`GET ${path}`, { as });
        await net.rest(`HEAD ${path}`, { as });
        await net.rest(`POST ${path}`, { as });
        await net.rest(`OPTIONS ${path}`, { as });
        await net.rest(`GET ${path}?query=x`, { as });
        await net.rest(`GET ${path}`, { as: { ...as, name: 'a wrong key' }, headers: { 'x-api-key': 'nonsense' } });
        await net.rest(`GET ${path}`, { as, headers: { accept: 'image/png' } });
        await net.rest(`GET ${path}/`, { as });
      }
      for (const path of ['/health', '/healthz', '/ready', '/status']) await net.rest(`GET ${path}`, { as });

      const through = { 'x-forwarded-for': '203.0.113.9' };
      await net.rest('GET /metrics', { as: ELSEWHERE });
      await net.rest('HEAD /metrics', { as: ELSEWHERE });
      for (const scopes of [['READ'], ['WRITE']])
        await net.rest('GET /metrics', { as: await net.key(`a key of ${scopes}`, { scopes }), headers: through });
      await net.rest('GET /metrics', { as: ELSEWHERE, headers: { 'x-api-key': 'wrong' } });
      await net.rest('POST /metrics', { headers: through });
      await net.rest('HEAD /metrics', { headers: through });
      const { status, headers, text } = await net.exchange('GET', '/metrics', { headers: through });
      net.note('GET /metrics as admin', `${status} ${headers['content-type']}\n${metricNames(text)}`);
      await net.exchange('GET', '/pets/999');
      await net.exchange('POST', '/graphql', {
        body: { query: 'query Mine { a: pets { totalCount } b: pets { totalCount } }' },
      });
      await net.exchange('POST', '/graphql', { body: { query: '{ pets { totalCount } orders { totalCount } }' } });
      await net.exchange('POST', '/graphql', { body: { query: '{ nonsense }' } });
      const counted = (await net.exchange('GET', '/metrics', { headers: through })).text
        .split('\n')
        .filter((line) => /^petstore_(request_duration_seconds_count|errors_total)/.test(line))
        .filter((line) => !/"(health|metrics)"/.test(line))
        .sort();
      net.note('the counted requests', counted.join('\n'));
    },
  },
  {
    name: 'operation metrics on a port of their own',
    once: true,
    settings: { METRICS_PORT: '0' },
    run: async (net) => {
      const url = /"Metrics":"([^"]+)"/.exec(net.server.stdout())?.[1] ?? '';
      const nobody: Caller = { name: 'nobody', headers: {} };
      const lines: string[] = [];
      for (const [method, path] of [
        ['GET', '/metrics'],
        ['HEAD', '/metrics'],
        ['GET', '/metrics?x=1'],
        ['POST', '/metrics'],
        ['GET', '/'],
        ['GET', '/pets'],
        ['GET', '/livez'],
      ] as const) {
        const { status, headers } = await send(new URL(url).origin, method, path, { as: nobody });
        lines.push(`${method} ${path}: ${status} ${headers['content-type'] ?? ''}`);
      }
      net.note('on METRICS_PORT, without a key', lines.join('\n'));
      net.note('names', metricNames((await send(new URL(url).origin, 'GET', '/metrics', { as: nobody })).text));
      await net.rest('GET /metrics', { as: ELSEWHERE });
      await net.rest('HEAD /metrics');
    },
  },
];
