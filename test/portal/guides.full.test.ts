import type { Browser } from 'playwright-core';
import { browserTest, launchBrowser, openPage, violations } from '../helper/browser';
import { ADMIN_KEY, type Gateway, startGateway } from '../helper/gateway';

let gateway: Gateway;
let url: string;
let browser: Browser | undefined;
beforeAll(async () => {
  gateway = await startGateway();
  url = await gateway.listen();
});
afterAll(async () => {
  await browser?.close();
  await gateway.close();
});

/** Pages without a cache load more files than callers without a key may in a minute. */
const open = (chromium: Browser, options: object = {}) =>
  openPage(chromium, url, { extraHTTPHeaders: { 'x-api-key': ADMIN_KEY }, ...options });

const inBrowser = (name: string, run: (browser: Browser) => Promise<void>) => {
  browserTest(name, async () => {
    browser ??= await launchBrowser();
    await run(browser);
  });
};

/** The rules whose verdict may differ in the dark. */
const COLOURS = ['color-contrast', 'link-in-text-block'];
/** Those of other pages have tests of their own. */
const OTHER_PAGES = ['/docs/rest', '/docs/graphql', '/docs/errors'];

inBrowser(
  'every guide is accessible in light and dark, fits a phone, and loads nothing from elsewhere',
  async (chromium) => {
    const { page, complaints, outside } = await open(chromium, { viewport: { width: 390, height: 844 } });
    await page.goto(`${url}/docs`);
    const paths: string[] = await page
      .locator('.contents a')
      .evaluateAll((links) => links.map((link) => link.getAttribute('href')));
    expect(paths.length).toBeGreaterThan(15);
    const found: string[] = [];
    const checked = await open(chromium, { bypassCSP: true });
    for (const path of ['/docs', ...paths.filter((each) => !OTHER_PAGES.includes(each))]) {
      await page.goto(url + path);
      const width = await page.evaluate('document.documentElement.scrollWidth');
      if (width !== 390) found.push(`${path} is ${width} px wide on a phone`);
      await checked.page.emulateMedia({ colorScheme: 'light' });
      await checked.page.goto(url + path);
      const inLight = await violations(checked.page);
      await checked.page.emulateMedia({ colorScheme: 'dark' });
      const inDark = await violations(checked.page, COLOURS);
      found.push(...[...inLight, ...inDark].map((violation) => `${path} ${violation}`));
    }
    expect(found).toEqual([]);
    expect([...complaints, ...outside]).toEqual([]);
  },
);

/** What users look for, and what they are to find first. */
const FIRST_FOUND = [
  ['insufficient stock', '/docs/errors#insufficient_stock'],
  ['placeOrder', '/docs/graphql#Mutation.placeOrder'],
  ['POST /store/orders', '/docs/rest#placeOrder'],
  ['PetFilter', '/docs/graphql#PetFilter'],
  ['shipDate', '/docs/graphql#Order'],
  ['BUSINESS', '/docs/graphql#Plan'],
  ['cursor', '/docs/rest#parameter-cursor'],
  ['If-Match', '/docs/rest#parameter-If-Match'],
  ['REQUEST_TIMEOUT_MS', '/docs/configuration#connections-requests-and-time'],
  ['environment variables', '/docs/configuration'],
  ['pagination', '/docs/rest-clients'],
  ['paging', '/docs/rest-clients'],
  ['sorting', '/docs/rest-clients'],
  ['filter', '/docs/graphql-clients'],
  ['authentication', '/docs/keys'],
  ['rate limiting', '/docs/limits'],
  ['throttling', '/docs/limits'],
  ['webhook', '/docs/live-events'],
  ['postman', '/docs/rest'],
  ['prometheus', '/docs/operations#alerts'],
  ['architecture', '/docs/architecture'],
  ['kubernetes xyzzy', '/docs/scaling'],
] as const;

inBrowser('the search finds sections, settings, operations and errors, with the keyboard alone', async (chromium) => {
  const { page, complaints, outside } = await open(chromium);
  await page.goto(`${url}/docs/keys`);
  await page.keyboard.press('/');
  const search = page.getByRole('dialog', { name: 'Search the documentation' });
  const expectFirst = async (words: string, href: string) => {
    await search.getByRole('searchbox').fill(words);
    await page.locator(`.search-found li:first-child a[href="${href}"]`).waitFor({ timeout: 5_000 });
    expect(await search.getByRole('list').textContent()).not.toContain('`');
  };
  for (const [words, href] of FIRST_FOUND) await expectFirst(words, href);
  await expectFirst('first requets', '/docs/getting-started#first-requests');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.waitForURL(`${url}/docs/getting-started#first-requests`);
  expect([...complaints, ...outside]).toEqual([]);
});

inBrowser('code is copied by a button, without the output that it shows', async (chromium) => {
  const { page } = await open(chromium, { permissions: ['clipboard-read', 'clipboard-write'] });
  await page.goto(`${url}/docs/getting-started`);
  await page.locator('.code-block').first().hover();
  await page.getByRole('button', { name: 'Copy' }).first().click();
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  const copied: string = await page.evaluate('navigator.clipboard.readText()');
  expect(copied).toContain('curl');
  expect(copied).not.toMatch(/^#/m);
});

/** A name at which the gateway is reached without TLS, so that browsers give its pages no clipboard. */
const LAN = 'http://shop.lan:4321';

inBrowser('examples and links name the server that they come from, also where they are copied', async (chromium) => {
  const { page, complaints } = await open(chromium);
  await page.route(`${LAN}/**`, async (route) => {
    const { pathname } = new URL(route.request().url());
    await route.fulfill({ response: await route.fetch({ url: url + pathname }) });
  });
  for (const [path, here] of [
    ['/docs/getting-started', 'curl -s shop.lan:4321/categories'],
    ['/docs/limits', `process.env.PETSTORE_URL ?? '${LAN}'`],
    ['/docs/live-events', `'ws://shop.lan:4321/graphql'`],
    ['/docs/usage', `${LAN}/admin`],
  ] as const) {
    await page.goto(LAN + path);
    await page.locator('code', { hasText: here }).first().waitFor();
    expect(await page.locator('main').innerHTML()).not.toMatch(/(localhost|127\.0\.0\.1):4000/);
  }
  await page.goto(`${LAN}/docs/getting-started`);
  expect(await page.getByRole('link', { name: `${LAN}/graphql`, exact: true }).getAttribute('href')).toBe(
    `${LAN}/graphql`,
  );
  expect(await page.evaluate('navigator.clipboard')).toBeUndefined();
  await page.getByRole('button', { name: 'Copy' }).first().click();
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  await page.getByRole('button', { name: 'Search' }).click();
  await page.keyboard.press('Control+V');
  expect(await page.getByRole('searchbox').inputValue()).toMatch(
    /^curl -s shop\.lan:4321\/categories .*shop\.lan:4321\/pets/,
  );
  // Chromium does not isolate pages that come without TLS, and says so.
  expect(complaints.filter((each) => !each.includes('Cross-Origin-Opener-Policy'))).toEqual([]);
});

inBrowser('at 1280 px tables can be read, and first commands, without scrolling sideways', async (chromium) => {
  const { page } = await open(chromium, { viewport: { width: 1280, height: 800 } });
  for (const [path, what] of [
    ['/docs/getting-started', '.table, pre.code'],
    ['/docs/operations', '.table'],
    ['/docs/configuration', '.table'],
    ['/docs/postgresql', '.table'],
  ] as const) {
    await page.goto(url + path);
    const cut: string[] = await page
      .locator(what)
      .evaluateAll((all) => all.filter((each) => each.scrollWidth > each.clientWidth).map((each) => each.innerHTML));
    expect([path, cut]).toEqual([path, []]);
  }
});

inBrowser('on a phone the contents unfold', async (chromium) => {
  const { page } = await open(chromium, { viewport: { width: 390, height: 844 }, isMobile: true });
  await page.goto(`${url}/docs/limits`);
  const link = page.locator('.contents').getByText('Keys and scopes');
  expect(await link.isVisible()).toBe(false);
  await page.getByText('Contents').click();
  await link.click();
  await page.waitForURL(`${url}/docs/keys`);
});
