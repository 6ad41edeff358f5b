import type { Browser } from 'playwright-core';
import { browserTest, launchBrowser, type Observed, openPage } from '../helper/browser';
import { emptyDatabase } from '../helper/database';
import { type Gateway, startGateway, type TestKey } from '../helper/gateway';
import { until } from '../helper/until';

let gateway: Gateway;
let url: string;
let browser: Browser;
let pro: TestKey;
let opened: Observed[] = [];

const inBrowser = (name: string, run: () => Promise<void>) => {
  browserTest(name, async () => {
    browser ??= await launchBrowser();
    await run();
  });
};

beforeAll(async () => {
  gateway = await startGateway();
  url = await gateway.listen();
  await emptyDatabase(gateway.database);
  await gateway.data('mutation { createCategory(input: { name: "Dogs" }) { id } }');
  await gateway.data('mutation { createPet(input: { name: "Rex", categoryId: 1 }) { id } }');
});
beforeEach(async () => {
  pro = await gateway.createKey({ name: 'Acme', plan: 'PRO' });
});
afterEach(async () => {
  await Promise.all(opened.map(({ page }) => page.context().close()));
  opened = [];
});
afterAll(async () => {
  await browser?.close();
  await gateway.close();
});

async function open(path: string, options: object = {}): Promise<Observed> {
  const observed = await openPage(browser, url, options);
  opened.push(observed);
  await observed.page.clock.install();
  await observed.page.goto(url + path);
  return observed;
}

async function openSubscriptions(): Promise<number> {
  const { body } = await gateway.app.inject({ url: '/metrics' });
  return Number(/^petstore_subscriptions (\d+)/m.exec(body)?.[1]);
}

/** Milliseconds within which an open page refreshes the quota. */
const SOON = 6_000;

/** Enters a key in the field that all pages have. */
async function giveKey({ page }: Observed, key: string): Promise<void> {
  await page.getByLabel('API key').fill(key);
  await page.getByRole('button', { name: 'Use' }).click();
}

/** No errors in the page, and no requests to other servers. */
function expectNoComplaints({ complaints, outside }: Observed): void {
  expect(complaints).toEqual([]);
  expect(outside).toEqual([]);
}

const left = ({ page }: Observed, name: string) => page.locator(`#window-${name} .remaining`).textContent();

describe('the start page', () => {
  inBrowser('shows the remaining quota, and what a request costs', async () => {
    const start = await open('/');
    const { page } = start;
    await giveKey(start, pro.whole);
    await page.getByText('key “Acme”, may read and write').waitFor();
    expect(await page.locator('#plan').textContent()).toBe('PRO');
    expect([await left(start, 'minute'), await left(start, 'day')]).toEqual(['300', '10,000']);
    expect(await page.locator('.bar').first().getAttribute('aria-valuenow')).toBe('300');

    await page.getByRole('button', { name: 'GET /pets' }).click();
    await page.getByText('"name": "Rex"').waitFor();
    expect([await left(start, 'minute'), await left(start, 'day')]).toEqual(['299', '9,999']);
    await page.getByRole('button', { name: 'GraphQL: pets' }).click();
    await page.getByText('"totalCount": 1').waitFor();
    expect(await left(start, 'minute')).toBe('298');
    await page.getByRole('button', { name: 'GraphQL: viewer, free' }).click();
    await page.getByText('"scopes"').waitFor();
    expect(await left(start, 'minute')).toBe('298');

    await page.getByText('Ready · database ok · limits in memory').waitFor();
    expectNoComplaints(start);
  });

  inBrowser('notices by itself what others use with the same key', async () => {
    const start = await open('/');
    await giveKey(start, pro.whole);
    await start.page.getByText('key “Acme”').waitFor();
    await gateway.app.inject({ url: '/pets', headers: pro.headers });
    await start.page.clock.fastForward(SOON);
    await start.page.locator('#window-minute .remaining', { hasText: '299' }).waitFor();
  });

  inBrowser('keeps the key in the session storage of the tab until it is forgotten', async () => {
    const start = await open('/');
    const { page } = start;
    await giveKey(start, pro.whole);
    await page.getByText('key “Acme”').waitFor();
    await page.reload();
    await page.getByText('key “Acme”').waitFor();
    const stored = () =>
      page.evaluate('[JSON.stringify(sessionStorage), JSON.stringify(localStorage) + document.cookie]');
    expect(await stored()).toEqual([expect.stringContaining(pro.whole), '{}']);
    await page.getByRole('button', { name: 'Forget' }).click();
    await page.getByText('without a key, may read').waitFor();
    expect(await stored()).toEqual(['{}', '{}']);
    expectNoComplaints(start);
  });

  inBrowser('reports a malformed key and a refused one, and does not retry', async () => {
    const start = await open('/');
    const { page } = start;
    await page.getByText('without a key').waitFor();
    await giveKey(start, 'secret');
    await page.getByText('A key looks like').waitFor();
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await giveKey(start, `ps_nobodynobody_${'x'.repeat(32)}`);
    await page.getByText('The API key is unknown, or its secret is wrong.').waitFor();
    for (let i = 0; i < 3; i++) await page.clock.fastForward(SOON);
    expect(asked.filter((path) => path === '/graphql')).toHaveLength(1);
    expect(start.complaints).toEqual([expect.stringContaining('401')]);
  });

  inBrowser('tells a caller that it is banned, and sends nothing until the ban is over', async () => {
    const { headers, whole } = await gateway.createKey({ plan: 'FREE' });
    for (let i = 0; i < 80; i++) await gateway.app.inject({ url: '/pets', headers });
    const start = await open('/');
    await giveKey(start, whole);
    await start.page.getByText('after too many rejected requests.').waitFor();
    const asked: string[] = [];
    start.page.on('request', (request) => asked.push(request.url()));
    for (let i = 0; i < 3; i++) await start.page.clock.fastForward(SOON);
    expect(asked.filter((each) => each.endsWith('/graphql'))).toEqual([]);
  });

  inBrowser('fits a phone, in dark mode', async () => {
    const phone = { viewport: { width: 360, height: 740 }, colorScheme: 'dark', isMobile: true };
    const start = await open('/', phone);
    const { page } = start;
    await page.getByRole('button', { name: 'GraphQL: pets' }).click();
    await page.getByText('"totalCount": 1').waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
    expect(await page.evaluate('getComputedStyle(document.body).color')).toBe('rgb(236, 235, 231)');
    expectNoComplaints(start);
  });

  inBrowser('links to the explorers', async () => {
    const start = await open('/');
    const links = await start.page.getByRole('link').all();
    const paths = new Set(await Promise.all(links.map((link) => link.getAttribute('href'))));
    for (const path of [
      '/graphql',
      '/graphiql',
      '/docs/errors',
      '/docs/graphql',
      '/docs/rest',
      '/schema.graphql',
      '/openapi.json',
      '/openapi.yaml',
      '/livez',
      '/readyz',
    ])
      expect(paths).toContain(path);
  });
});

describe('GraphiQL', () => {
  inBrowser('runs an example with the key of the tab, and shows its quota', async () => {
    const graphiql = await open('/graphiql');
    const { page } = graphiql;
    await giveKey(graphiql, pro.whole);
    await page.getByText('PRO · 300 left this minute').waitFor();
    for (const name of [
      'AvailablePets',
      'WhereIStand',
      'AddCategory',
      'AddPet',
      'SetStock',
      'PlaceOrder',
      'PetChanges',
    ])
      expect(await page.getByRole('tab', { name }).count()).toBe(1);
    await page.getByRole('button', { name: /execute query/i }).click();
    await page.locator('.result-window', { hasText: 'totalCount' }).waitFor();
    expect(await page.locator('.result-window').textContent()).toContain('"Rex"');
    await page.getByText('PRO · 299 left this minute').waitFor();

    await page.getByRole('button', { name: /show documentation explorer/i }).click();
    await page.getByText('Root Types').waitFor();
    expectNoComplaints(graphiql);
  });

  inBrowser('has its bar in one line on a desk, with a key too', async () => {
    const graphiql = await open('/graphiql', { viewport: { width: 1280, height: 800 } });
    const { page } = graphiql;
    const key = await gateway.createKey({ plan: 'ENTERPRISE', perMinute: 10_000, perDay: 1_000_000 });
    await giveKey(graphiql, key.whole);
    await page.getByText('ENTERPRISE · 10,000 left this minute').waitFor();
    expect((await page.locator('explorer-bar').boundingBox())?.height).toBeLessThan(56);
    expect((await page.getByLabel('API key').boundingBox())?.width).toBeGreaterThan(60);
    await page.getByRole('navigation', { name: 'Site' }).getByRole('link', { name: 'GraphQL' }).click();
    await page.waitForURL(`${url}/docs/graphql`);
  });

  inBrowser('shows live events, using the key of the tab', async () => {
    const graphiql = await open('/graphiql');
    const { page } = graphiql;
    await giveKey(graphiql, pro.whole);
    await page.getByText('PRO · 300 left this minute').waitFor();
    await page.getByRole('tab', { name: 'PetChanges' }).click();
    // GraphiQL learns a little later which operation the tab has.
    await page.waitForTimeout(1_500);
    await page.getByRole('button', { name: /execute query/i }).click();
    await until(async () => (await openSubscriptions()) === 1, 20);
    await gateway.data('mutation { createPet(input: { name: "Luna", categoryId: 1 }) { id } }');
    await page.locator('.result-window', { hasText: 'CREATED' }).waitFor();
    expect(await page.locator('.result-window').textContent()).toContain('"Luna"');
    await page.getByRole('button', { name: /stop query/i }).click();
    await until(async () => (await openSubscriptions()) === 0, 20);
    expectNoComplaints(graphiql);
  });

  inBrowser('prefers a key in its header editor to that of the tab, and stores none', async () => {
    const graphiql = await open('/graphiql');
    const { page } = graphiql;
    await page.getByText('this minute').waitFor();
    await page.getByRole('button', { name: 'Headers' }).click();
    await page.locator('.graphiql-editor-tool .CodeMirror:visible').click();
    await page.keyboard.insertText(`{ "x-api-key": "${pro.whole}" }`);
    await page.getByRole('button', { name: /execute query/i }).click();
    await page.getByText('299 left this minute').waitFor();
    expect(await page.evaluate('JSON.stringify(localStorage)')).not.toContain(pro.whole);
    expectNoComplaints(graphiql);
  });

  inBrowser('shows the result below the query on a phone, and headers only on demand', async () => {
    const { page } = await open('/graphiql', { viewport: { width: 390, height: 844 }, isMobile: true });
    const [query, result] = await Promise.all(
      ['.graphiql-query-editor', '.graphiql-response'].map((pane) => page.locator(pane).boundingBox()),
    );
    expect(Math.min(query?.width ?? 0, result?.width ?? 0)).toBeGreaterThan(250);
    expect(result?.y).toBeGreaterThanOrEqual((query?.y ?? 0) + (query?.height ?? 0));
    expect(result?.height).toBeGreaterThan(200);
    expect(await page.getByRole('button', { name: 'Show editor tools' }).count()).toBe(1);
  });
});

describe('Sandbox', () => {
  const APOLLO = ['embeddable-sandbox.cdn.apollographql.com', 'sandbox.embed.apollographql.com'];
  const hosts = ({ outside }: Observed) => [...new Set(outside.map((each) => new URL(each).hostname))];

  inBrowser('contacts Apollo only, and is GraphiQL, which says why, if Apollo is unreachable', async () => {
    const sandbox = await open('/graphql');
    const { page } = sandbox;
    await page.getByText('This is GraphiQL, served from here: Apollo’s servers').waitFor();
    expect(hosts(sandbox)).toEqual([APOLLO[0]]);
    expect(sandbox.complaints).toEqual([expect.stringContaining('Failed to load resource')]);
    await page.getByRole('tab', { name: 'AvailablePets' }).waitFor();
    await page.getByRole('button', { name: /execute query/i }).click();
    await page.locator('.result-window', { hasText: 'totalCount' }).waitFor();
  });

  inBrowser('is embedded with examples; its requests carry the key of the tab, Apollo never gets it', async () => {
    const sandbox = await openPage(browser, url);
    opened.push(sandbox);
    const { page } = sandbox;
    // Like Apollo's script: a frame of Apollo's, whose requests the page sends.
    const script = `window.EmbeddedSandbox = class {
      constructor(options) {
        window.options = options;
        const frame = document.createElement('iframe');
        frame.src = 'https://sandbox.embed.apollographql.com/sandbox/explorer?endpoint=' + options.initialEndpoint;
        options.target.append(frame);
      }
    };`;
    const asked: string[] = [];
    await page.route(/apollographql\.com/, (route) => {
      asked.push(route.request().url());
      const isScript = route.request().resourceType() === 'script';
      return isScript
        ? route.fulfill({ contentType: 'text/javascript', body: script })
        : route.fulfill({ contentType: 'text/html', body: '<title>Sandbox</title>' });
    });
    await page.goto(`${url}/graphql`);
    await page.locator('iframe').waitFor();
    await giveKey(sandbox, pro.whole);
    await page.getByText('PRO · 300 left').waitFor();

    expect(await page.evaluate('window.options')).toMatchObject({
      initialEndpoint: `${url}/graphql`,
      initialState: { document: expect.stringContaining('query AvailablePets'), includeCookies: false },
      runTelemetry: false,
    });
    const answer = await page.evaluate(`window.options.handleRequest('${url}/graphql', {
      method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"query":"{ viewer { plan } }"}',
    }).then((response) => response.json())`);
    expect(answer).toMatchObject({ data: { viewer: { plan: 'PRO' } } });
    expect(asked.map((each) => new URL(each).hostname)).toEqual(APOLLO);
    expect(asked.join()).not.toContain(pro.whole);
    expectNoComplaints(sandbox);
  });
});

describe('the errors', () => {
  inBrowser('show the heading of a code, in either case', async () => {
    for (const hash of ['RATE_LIMITED', 'rate_limited']) {
      const { page } = await open(`/docs/errors#${hash}`);
      const header = await page.locator('.top').boundingBox();
      const heading = await page.locator('#rate_limited h3').boundingBox();
      expect(heading?.y).toBeGreaterThan(header?.height ?? Number.NaN);
      expect(heading?.y).toBeLessThan(400);
    }
  });

  inBrowser('fit on a phone in the dark, and each can be linked to', async () => {
    const phone = { viewport: { width: 360, height: 740 }, isMobile: true, colorScheme: 'dark' };
    const errors = await open('/docs/errors#INSUFFICIENT_STOCK', phone);
    const { page } = errors;
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
    expect(await page.evaluate('getComputedStyle(document.body).color')).toBe('rgb(236, 235, 231)');
    const entry = page.locator('#insufficient_stock');
    expect(await entry.boundingBox()).toMatchObject({ y: expect.any(Number) });
    expect((await entry.boundingBox())?.y).toBeLessThan(740);
    expect(await entry.textContent()).toContain('What to do:');
    expectNoComplaints(errors);
  });
});
