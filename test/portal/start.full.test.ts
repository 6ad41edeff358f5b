import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import type { TestKey } from '../helper/gateway';
import { browserTest, enterKey, expectNoComplaints, useBrowsing } from './browsing';

/** Milliseconds within which an open page refreshes the quota. */
const SOON = 6_000;

const browsing = useBrowsing();
let pro: TestKey;
beforeEach(async () => {
  pro = await browsing.gateway.createKey({ name: 'Acme', plan: 'PRO' });
});

/** Opens the start page with a clock that the test controls. */
async function open() {
  const start = await browsing.open();
  await start.page.clock.install();
  await start.page.goto(browsing.url);
  return start;
}

const ask = (headers: Record<string, string>) => browsing.gateway.app.inject({ url: '/pets', headers });
const left = (page: Page, name: string) => page.locator(`[data-window=${name}] b`).textContent();

browserTest('the start page shows the remaining quota, the usage of the key, and what a request costs', async () => {
  for (let i = 0; i < 4; i++) await ask(pro.headers);
  const start = await open();
  const { page } = start;
  await page.getByText('Usage is counted per key').waitFor();
  await enterKey(page, pro);
  await page.getByText('key “Acme”, scopes: read, order, write').waitFor();
  expect(await page.locator('#plan').textContent()).toBe('PRO');
  expect([await left(page, 'minute'), await left(page, 'day')]).toEqual(['296', '9,996']);
  expect(await page.locator('.usage-chart').getAttribute('aria-label')).toBe('Last 30 days: 4 requests');

  for (const [request, shown, remaining] of [
    ['GET /pets', '"name": "Rex"', '295'],
    ['GraphQL: pets', '"totalCount": 1', '294'],
    ['GraphQL: viewer, free', '"scopes"', '294'],
  ] as const) {
    await page.getByRole('button', { name: request, exact: true }).click();
    await page.getByText(shown).waitFor();
    expect([request, await left(page, 'minute')]).toEqual([request, remaining]);
  }
  await page.getByText('Ready · database ok · limits in memory').waitFor();
  expectNoComplaints(start);
});

browserTest('the start page shows quota that other clients use with the same key', async () => {
  const { page } = await open();
  await enterKey(page, pro);
  await page.getByText('key “Acme”').waitFor();
  await ask(pro.headers);
  await page.clock.fastForward(SOON);
  await page.locator('[data-window=minute] b', { hasText: '299' }).waitFor();
});

browserTest('a key is kept in the session storage of the tab until it is forgotten', async () => {
  const start = await open();
  const { page } = start;
  await enterKey(page, pro);
  await page.getByText('key “Acme”').waitFor();
  await page.reload();
  await page.getByText('key “Acme”').waitFor();
  const stored = () =>
    page.evaluate('[JSON.stringify(sessionStorage), JSON.stringify(localStorage) + document.cookie]');
  expect(await stored()).toEqual([expect.stringContaining(pro.whole), '{}']);
  await page.getByRole('button', { name: 'Forget' }).click();
  await page.getByText('without a key, scopes: read').waitFor();
  expect(await stored()).toEqual(['{}', '{}']);
  expectNoComplaints(start);
});

browserTest.each(['/', '/graphiql'])('%s explains what is wrong with a malformed key', async (path) => {
  const { page } = await browsing.open(path);
  for (const [whole, reason] of [
    ['secret', 'It does not begin with “ps_”.'],
    ['ps_ypcc3ce37j11', 'Its secret is missing: this may be only the id.'],
    ['ps_ypcc3ce37j1_1Nb9X5HMAvLuV9pcW1upWEeeBMYdssmW', 'Its id has 11 characters instead of 12.'],
    ['ps_YPCC3ce37j11_1Nb9X5HMAvLuV9pcW1upWEeeBMYdssmW', 'It has invalid characters'],
  ] as const) {
    await enterKey(page, { whole });
    const note = page.getByText(reason);
    await note.waitFor();
    expect((await note.boundingBox())?.height).toBeGreaterThan(10);
  }
});

browserTest('a rejected key is reported, and not tried again', async () => {
  const { page, complaints } = await open();
  await page.getByText('without a key').waitFor();
  const asked: string[] = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  await enterKey(page, { whole: `ps_nobodynobody_${'x'.repeat(32)}` });
  await page.getByText('The API key is unknown, or its secret is wrong.').waitFor();
  for (let i = 0; i < 3; i++) await page.clock.fastForward(SOON);
  expect(asked.filter((path) => path === '/graphql')).toHaveLength(1);
  expect(complaints).toEqual([expect.stringContaining('401')]);
});

/** A key that has just been banned, for a minute. */
async function bannedKey() {
  const key = await browsing.gateway.createKey({ name: 'Banned shop', plan: 'FREE' });
  for (let i = 0; i < 80; i++) await ask(key.headers);
  return key;
}

const liftBan = (caller: string) =>
  browsing.gateway.data('mutation ($caller: String!) { liftBan(caller: $caller) }', { caller });

/** What the start page says about the caller: its plan or what is wrong, the windows of its quota, and its usage. */
const standing = async (page: Page) => [
  await page.locator('#plan').textContent(),
  await page.locator('[data-window]').count(),
  await page.locator('#usage-sum').textContent(),
];

browserTest('the start page counts down to the end of a ban, sends no requests before, and recovers', async () => {
  const banned = await bannedKey();
  const { page } = await open();
  await enterKey(page, banned);
  await page.getByText(/^Banned until .+ UTC after too many rejected requests\.$/).waitFor();
  await page.getByText(/^Next attempt in 5\d s\.$/).waitFor();
  expect(await standing(page)).toEqual(['Banned', 0, 'Not available: banned.']);
  await page.getByRole('button', { name: 'GET /pets', exact: true }).click();
  await page.getByText(/^429 in \d+ ms · try again in \d+ s$/).waitFor();
  expect(await standing(page)).toEqual(['Banned', 0, 'Not available: banned.']);
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  for (let i = 0; i < 3; i++) await page.clock.fastForward(SOON);
  await page.getByText(/^Next attempt in [34]\d s\.$/).waitFor();
  expect(asked.filter((each) => each.endsWith('/graphql'))).toEqual([]);
  await liftBan(banned.id);
  await page.clock.fastForward(70_000);
  await page.getByText('key “Banned shop”').waitFor();
  await page.locator('.usage-chart').waitFor();
  expect(await standing(page)).toEqual(['FREE', 2, expect.stringContaining('1 ban')]);
});

browserTest(
  'with a rejected key, the start page shows neither the quota of the address nor a pending usage',
  async () => {
    const { page } = await open();
    await page.getByText('Usage is counted per key').waitFor();
    await page.evaluate(`new MutationObserver(() => {
      const isRejected = document.querySelector('#plan').textContent === 'Key rejected';
      if (isRejected && document.querySelector('[data-window]')) window.hasShownQuota = true;
    }).observe(document.body, { subtree: true, childList: true })`);
    for (const whole of [`ps_nobodynobody_${'x'.repeat(32)}`, await revokedKey()]) {
      await enterKey(page, { whole });
      await page.getByText('Not available: key rejected.').waitFor();
      await page.getByText('Enter another key, or forget this key.').waitFor();
      expect(await standing(page)).toEqual(['Key rejected', 0, 'Not available: key rejected.']);
      await page.getByRole('button', { name: 'GET /pets', exact: true }).click();
      await page.getByText(/^401 in \d+ ms$/).waitFor();
      expect((await standing(page)).slice(0, 2)).toEqual(['Key rejected', 0]);
    }
    expect(await page.evaluate('window.hasShownQuota')).toBeUndefined();
    await page.getByRole('button', { name: 'Forget' }).click();
    await page.getByText('Usage is counted per key').waitFor();
    expect((await standing(page)).slice(0, 2)).toEqual(['FREE', 2]);
    expect(await page.evaluate('document.activeElement.id')).toBe('api-key');
  },
);

async function revokedKey(): Promise<string> {
  const { id, whole } = await browsing.gateway.createKey({ plan: 'PRO' });
  await browsing.gateway.data('mutation ($id: ID!) { revokeApiKey(id: $id) { id } }', { id });
  return whole;
}

browserTest.each([
  ['No response', { status: 502, contentType: 'text/html', body: '<h1>Bad Gateway</h1>' }],
  [
    'Unavailable',
    {
      status: 503,
      headers: { 'retry-after': '5' },
      json: { errors: [{ message: 'The database does not respond.', extensions: { code: 'SERVICE_UNAVAILABLE' } }] },
    },
  ],
])('the start page says “%s” until the gateway responds again', async (title, response) => {
  const { page } = await open();
  await page.route('**/graphql', (route) => route.fulfill(response));
  await page.route('**/usage', (route) => route.fulfill({ ...response, status: 503 }));
  await enterKey(page, pro);
  await page.getByText(`Not available: ${title.toLowerCase()}.`).waitFor();
  expect(await standing(page)).toEqual([title, 0, `Not available: ${title.toLowerCase()}.`]);
  await page.unroute('**/graphql');
  await page.clock.fastForward(SOON);
  await page.getByText('The usage cannot be read.').waitFor();
  await page.unroute('**/usage');
  await page.clock.fastForward(SOON);
  await page.locator('.usage-chart').waitFor();
  expect(await standing(page)).toEqual(['PRO', 2, '0 requests']);
});

browserTest.each(['/graphiql', '/docs/rest'])('%s shows no quota beside a rejection, and recovers', async (path) => {
  const banned = await bannedKey();
  const { page } = await browsing.open();
  await page.clock.install();
  await page.goto(browsing.url + path);
  const quota = page.locator('#quota');
  await quota.getByText('FREE').waitFor();
  await enterKey(page, { whole: `ps_nobodynobody_${'x'.repeat(32)}` });
  await page.locator('#quota.bad').waitFor();
  expect(await quota.textContent()).toBe('The API key is unknown, or its secret is wrong.');
  await enterKey(page, banned);
  await quota.getByText('Banned until').waitFor();
  expect(await quota.textContent()).toMatch(/^Banned until .+ UTC after too many rejected requests\.$/);
  await liftBan(banned.id);
  await page.clock.fastForward(70_000);
  await quota.getByText(/^FREE · \d+ left this minute$/).waitFor();
});

browserTest('the start page marks the request whose response it shows', async () => {
  const { page } = await browsing.open('/');
  const requests = page.getByRole('group', { name: 'Request', exact: true });
  const marked = () => requests.locator('[aria-pressed=true]').allTextContents();
  const click = (name: string) => requests.getByRole('button', { name, exact: true }).click();
  const body = page.locator('#body');
  for (const name of ['GET /pets', 'GraphQL: pets', 'GraphQL: viewer, free', 'GET /store/orders']) {
    await click(name);
    expect(await marked()).toEqual([name]);
  }
  // The response to an earlier request arrives after the response to a later request.
  await page.route('**/pets?*', async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 500));
    await route.continue();
  });
  await click('GET /pets');
  await click('GraphQL: viewer, free');
  await page.waitForResponse('**/pets?*');
  await page.waitForTimeout(200);
  expect([await marked(), await body.textContent()]).toEqual([
    ['GraphQL: viewer, free'],
    expect.stringContaining('"viewer"'),
  ]);
  // A request without a response leaves no earlier response in the page.
  await page.route('**/store/inventory?*', (route) => route.abort());
  await click('GET /store/inventory');
  await page.getByText('No response.').waitFor();
  expect([await marked(), await body.isVisible()]).toEqual([['GET /store/inventory'], false]);
});

/** Sums the layout shifts of a page in `shift`. */
const OBSERVE_SHIFTS = `window.shift = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) window.shift += entry.value;
  }).observe({ type: 'layout-shift', buffered: true });`;

browserTest.each([1280, 390])('the layout of the start page does not shift at a width of %i px', async (width) => {
  for (const key of ['', pro.whole]) {
    const { page } = await browsing.open(undefined, { viewport: { width, height: 800 } });
    await page.addInitScript(`${OBSERVE_SHIFTS} if ('${key}') sessionStorage.setItem('petstore-api-key', '${key}');`);
    await page.goto(browsing.url);
    await page.locator(key ? '.usage-chart' : 'text=Usage is counted per key').waitFor();
    await page.getByText('Ready · database ok').waitFor();
    await page.waitForTimeout(500);
    expect(await page.evaluate('window.shift')).toBeLessThanOrEqual(0.05);
  }
});

browserTest.each(['/', '/admin'])('%s breaks a name of 255 letters without spaces', async (path) => {
  const key = await browsing.gateway.createKey({ name: 'W'.repeat(255), plan: 'PRO' });
  for (const width of [320, 1280]) {
    const { page } = await browsing.open(path, { viewport: { width, height: 800 } });
    await enterKey(page, key);
    await page.getByText('WWWWW').first().waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
  }
});

browserTest('with forced colours, the chosen request and language look different from the others', async () => {
  const { page } = await browsing.open('/', { forcedColors: 'active' });
  for (const group of ['#requests', '#languages']) {
    const backgrounds = (state: boolean): Promise<string[]> =>
      page.evaluate(`[...document.querySelectorAll('${group} [aria-pressed="${state}"]')]
        .map((each) => getComputedStyle(each).backgroundColor)`);
    const [chosen] = await backgrounds(true);
    expect(await backgrounds(false)).not.toContain(chosen);
  }
});

browserTest('the Copy button copies the example', async () => {
  const { page } = await browsing.open('/', { permissions: ['clipboard-read', 'clipboard-write'] });
  await page.getByRole('button', { name: 'Copy' }).click();
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(await page.locator('#request').textContent());
});

describe('the examples of the start page run without changes', () => {
  const directory = mkdtempSync(join(tmpdir(), 'snippets-'));
  afterAll(() => rmSync(directory, { recursive: true }));

  const LANGUAGES: [language: string, program: string][] = [
    ['curl', 'sh'],
    ['JavaScript', process.execPath],
    ['Python', 'python3'],
  ];
  const installed = LANGUAGES.filter(([, program]) => spawnSync(program, ['-h']).error === undefined);

  browserTest.each(installed)('in %s, with and without a key', async (language, program) => {
    const { page } = await browsing.open('/');
    const file = join(directory, `snippet${language === 'JavaScript' ? '.mjs' : ''}`);
    const run = async (request: string, expected: string, key?: string) => {
      await page.getByRole('button', { name: request, exact: true }).click();
      await page.getByRole('button', { name: language, exact: true }).click();
      const text = String(await page.locator('#request').textContent());
      expect(text).not.toContain(pro.whole);
      writeFileSync(file, text);
      const env = { PATH: process.env.PATH, ...(key && { PETSTORE_API_KEY: key }) };
      const { stdout } = await promisify(execFile)(program, [file], { env });
      expect(stdout).toContain(expected);
      if (language !== 'curl') expect(Number.parseInt(stdout, 10)).toBeGreaterThan(key ? 200 : 0);
    };
    await run('GET /pets', 'Rex');
    await run('GraphQL: pets', 'totalCount');
    await enterKey(page, pro);
    await page.getByText('key “Acme”').waitFor();
    await run('GET /pets', 'Rex', pro.whole);
    await run('GraphQL: pets', 'totalCount', pro.whole);
  });
});
