import type { Browser } from 'playwright-core';
import { browserTest, launchBrowser, openPage, violations } from '../helper/browser';
import { type Gateway, startGateway } from '../helper/gateway';

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
    const { page, complaints, outside } = await openPage(chromium, url, { viewport: { width: 390, height: 844 } });
    await page.goto(`${url}/docs`);
    const paths: string[] = await page
      .locator('.contents a')
      .evaluateAll((links) => links.map((link) => link.getAttribute('href')));
    expect(paths.length).toBeGreaterThan(15);
    const found: string[] = [];
    const checked = await openPage(chromium, url, { bypassCSP: true });
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

inBrowser('the search finds sections, settings, operations and errors, with the keyboard alone', async (chromium) => {
  const { page, complaints, outside } = await openPage(chromium, url);
  await page.goto(`${url}/docs/keys`);
  await page.keyboard.press('/');
  const search = page.getByRole('dialog', { name: 'Search the documentation' });
  const first = () => search.getByRole('link').first();
  const kinds = async (words: string, expected: string) => {
    await search.getByRole('searchbox').fill(words);
    await first().getByText(expected).first().waitFor();
  };
  await kinds('insufficient stock', 'INSUFFICIENT_STOCK');
  await kinds('REQUEST_TIMEOUT_MS', 'Configuration');
  await kinds('placeOrder', 'placeOrder');
  await kinds('POST /store/orders', 'POST /store/orders');
  await kinds('first requets', 'First requests');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.waitForURL(`${url}/docs/getting-started#first-requests`);
  expect([...complaints, ...outside]).toEqual([]);
});

inBrowser('code is copied by a button, without the output that it shows', async (chromium) => {
  const { page } = await openPage(chromium, url, { permissions: ['clipboard-read', 'clipboard-write'] });
  await page.goto(`${url}/docs/getting-started`);
  await page.locator('.code-block').first().hover();
  await page.getByRole('button', { name: 'Copy' }).first().click();
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  const copied: string = await page.evaluate('navigator.clipboard.readText()');
  expect(copied).toContain('curl');
  expect(copied).not.toMatch(/^#/m);
});

inBrowser('on a phone the contents unfold', async (chromium) => {
  const { page } = await openPage(chromium, url, { viewport: { width: 390, height: 844 }, isMobile: true });
  await page.goto(`${url}/docs/limits`);
  const link = page.locator('.contents').getByText('Keys and scopes');
  expect(await link.isVisible()).toBe(false);
  await page.getByText('Contents').click();
  await link.click();
  await page.waitForURL(`${url}/docs/keys`);
});
