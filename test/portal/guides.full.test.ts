import type { Page } from 'playwright-core';
import { ADMIN_KEY } from '../helper/gateway';
import { violations } from './browser';
import { browserTest, enterKey, useBrowsing } from './browsing';

const browsing = useBrowsing();

/**
 * Opens a page with the admin key. Playwright's `route` disables the HTTP cache, so loading all pages would exceed the
 * quota of an anonymous caller.
 */
const open = (path?: string, options: object = {}) =>
  browsing.open(path, { extraHTTPHeaders: { 'x-api-key': ADMIN_KEY }, ...options });

const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true };
const CLIPBOARD = { permissions: ['clipboard-read', 'clipboard-write'] };
/** The accessibility rules whose result may differ in dark mode. */
const COLOURS = ['color-contrast', 'link-in-text-block'];

/** The paths in the table of contents, except /docs/rest. Swagger UI renders it, and itself violates rules of axe. */
async function guidePaths(page: Page): Promise<string[]> {
  const paths: string[] = await page
    .locator('.contents a:not([href="/docs/rest"])')
    .evaluateAll((links) => links.map((link) => link.getAttribute('href')));
  expect(paths.length).toBeGreaterThan(15);
  return paths;
}

const widthOf = (page: Page) => page.evaluate('document.documentElement.scrollWidth');

browserTest('every page is accessible in light and dark mode, fits a phone, and contacts no other server', async () => {
  const { page: phone, complaints, outside } = await open('/docs', PHONE);
  const found: string[] = [];
  const { page: desktop } = await open(undefined, { bypassCSP: true });
  for (const path of ['/', '/docs', ...(await guidePaths(phone))]) {
    await phone.goto(browsing.url + path);
    const width = await widthOf(phone);
    if (width !== 390) found.push(`${path} is ${width} px wide on a phone`);
    await desktop.emulateMedia({ colorScheme: 'light' });
    await desktop.goto(browsing.url + path);
    const inLight = await violations(desktop);
    await desktop.emulateMedia({ colorScheme: 'dark' });
    const inDark = await violations(desktop, COLOURS);
    found.push(...[...inLight, ...inDark].map((violation) => `${path} ${violation}`));
  }
  expect(found).toEqual([]);
  expect([...complaints, ...outside]).toEqual([]);
});

browserTest('the start page with a key is accessible in light and dark mode, on a desktop and on a phone', async () => {
  for (const colorScheme of ['light', 'dark'])
    for (const screen of [{ viewport: { width: 1280, height: 800 } }, PHONE]) {
      const { page } = await open('/', { ...screen, colorScheme, bypassCSP: true });
      await enterKey(page, { whole: ADMIN_KEY });
      await page.locator('.usage-chart').waitFor();
      expect([await violations(page), await widthOf(page)]).toEqual([[], screen.viewport.width]);
    }
});

browserTest('the search finds sections, settings, operations and errors, and needs only the keyboard', async () => {
  const { page, complaints, outside } = await open('/docs/keys');
  await page.keyboard.press('/');
  const search = page.getByRole('dialog', { name: 'Search the documentation' });
  for (const [words, href] of [
    ['insufficient stock', '/docs/errors#insufficient_stock'],
    ['POST /store/orders', '/docs/rest#placeOrder'],
    ['BUSINESS', '/docs/limits'],
    ['REQUEST_TIMEOUT_MS', '/docs/configuration#connections-requests-and-time'],
    ['environment variables', '/docs/configuration'],
    ['BAN_AFTER', '/docs/configuration#callers'],
    ['METRICS_PORT', '/docs/configuration#the-process'],
    ['pagination', '/docs/rest-clients'],
    ['sorting', '/docs/rest-clients'],
    ['filter', '/docs/graphql-clients'],
    ['authentication', '/docs/keys'],
    ['rate limiting', '/docs/limits'],
    ['throttling', '/docs/limits'],
    ['webhook', '/docs/live-events'],
    ['postman', '/docs/rest'],
    ['React', '/docs/react'],
    ['next.js', '/docs/react'],
    ['optimistic', '/docs/react'],
    ['useQuery', '/docs/react'],
    ['TanStack', '/docs/react'],
    ['Vue', '/docs/graphql-clients'],
    ['nginx', '/docs/operations#behind-a-proxy'],
    ['Traefik', '/docs/operations#behind-a-proxy'],
    ['load balancer', '/docs/operations#behind-a-proxy'],
    ['cors', '/docs/configuration#callers'],
    ['oauth', '/docs/sign-in'],
    ['axios', '/docs/rest-clients'],
    ['docker compose', '/docs/scaling#containers'],
    ['opentelemetry', '/docs/operations#traces'],
    ['n+1', '/docs/bounds'],
    ['unblock', '/docs/limits#bans'],
    ['sample data', '/docs/getting-started'],
    ['create key', '/docs/keys#manage-keys'],
    ['supabase', '/docs/postgresql'],
    ['prometheus', '/docs/operations#alerts'],
    ['kubernetes xyzzy', '/docs/scaling#kubernetes'],
    ['first requets', '/docs/getting-started#first-requests'],
  ] as const) {
    await search.getByRole('searchbox').fill(words);
    await page.locator(`#search-found li:first-child a[href="${href}"]`).waitFor({ timeout: 5_000 });
    expect(await search.getByRole('list').textContent()).not.toContain('`');
  }
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.waitForURL(`${browsing.url}/docs/getting-started#first-requests`);
  expect([...complaints, ...outside]).toEqual([]);
});

browserTest('the Copy button copies commands without the output shown below them', async () => {
  const { page } = await open('/docs/getting-started', CLIPBOARD);
  await page.locator('.code-block').first().hover();
  await page.getByRole('button', { name: 'Copy' }).first().click();
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  const copied: string = await page.evaluate('navigator.clipboard.readText()');
  expect(copied).toContain('curl');
  expect(copied).not.toMatch(/^#/m);
});

/** An insecure origin: it has no TLS, and is not localhost. Pages of such an origin have no `navigator.clipboard`. */
const LAN = 'http://shop.lan:4321';

browserTest('examples, links and copied examples contain the address of the server that served the page', async () => {
  const { page, complaints } = await open();
  await page.route(`${LAN}/**`, async (route) => {
    const { pathname } = new URL(route.request().url());
    await route.fulfill({ response: await route.fetch({ url: browsing.url + pathname }) });
  });
  for (const [path, here] of [
    ['/docs/limits', `process.env.PETSTORE_URL ?? '${LAN}'`],
    ['/docs/live-events', `'ws://shop.lan:4321/graphql'`],
    ['/docs/usage', `${LAN}/admin`],
    ['/docs/getting-started', 'curl -s shop.lan:4321/categories'],
  ] as const) {
    await page.goto(LAN + path);
    await page.locator('code', { hasText: here }).first().waitFor();
    expect(await page.locator('main').innerHTML()).not.toMatch(/(localhost|127\.0\.0\.1):4000/);
  }
  const link = page.getByRole('link', { name: `${LAN}/graphql`, exact: true });
  expect(await link.getAttribute('href')).toBe(`${LAN}/graphql`);
  expect(await page.evaluate('navigator.clipboard')).toBeUndefined();
  await page.getByRole('button', { name: 'Copy' }).first().click();
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  await page.getByRole('button', { name: 'Search' }).click();
  await page.keyboard.press('Control+V');
  expect(await page.getByRole('searchbox').inputValue()).toMatch(
    /^export PETSTORE_API_KEY=ps_\w+ +curl -s shop\.lan:4321\/categories /,
  );
  // Chromium logs that it ignores Cross-Origin-Opener-Policy on pages without TLS.
  expect(complaints.filter((each) => !each.includes('Cross-Origin-Opener-Policy'))).toEqual([]);
  // The page may still be loading files when its context closes at the end of the test.
  await page.unrouteAll({ behavior: 'ignoreErrors' });
});

browserTest('at 1280, 768 and 390 px, no table or code of a guide needs horizontal scrolling', async () => {
  const { page } = await open('/docs');
  const cut: string[] = [];
  for (const path of await guidePaths(page)) {
    await page.goto(browsing.url + path);
    for (const width of [1280, 768, 390]) {
      await page.setViewportSize({ width, height: 800 });
      const wide: string[] = await page
        .locator('.table, pre.code')
        .evaluateAll((all) =>
          all.filter((each) => each.scrollWidth > each.clientWidth).map((each) => each.textContent),
        );
      cut.push(...wide.map((text) => `${path} at ${width} px: ${text.slice(0, 80)}`));
    }
  }
  expect(cut).toEqual([]);
});

browserTest('on a phone, each cell of a wide table stands below its row and names its column', async () => {
  const { page } = await open('/docs/configuration', { ...PHONE, bypassCSP: true });
  const row = page.getByRole('row').filter({ hasText: 'SHUTDOWN_DELAY_MS' });
  const cells = row.getByRole('cell');
  expect(await cells.count()).toBe(4);
  for (const cell of await cells.all()) {
    const box = await cell.boundingBox();
    expect(box && box.x >= 0 && box.x + box.width <= 390).toBe(true);
  }
  const labels = await page.evaluate(`[...document.querySelectorAll('tr')]
    .find((each) => each.textContent.includes('SHUTDOWN_DELAY_MS')).querySelectorAll('td')
    .values().map((each) => getComputedStyle(each, '::before').content).toArray()`);
  expect(labels).toEqual(['none', '"default:"', '"takes:"', '"meaning:"']);
  expect(await page.getByRole('columnheader', { name: 'meaning' }).count()).toBeGreaterThan(2);
  expect(await violations(page)).toEqual([]);
});

/** The texts of a guide that are underlined or have the colour of links, but are not in a link or a button. */
const DISGUISED = `(() => {
  const guide = document.querySelector('.guide');
  const link = document.createElement('a');
  link.href = '/';
  guide.append(link);
  const { color: ofLinks } = getComputedStyle(link);
  link.remove();
  const hasText = (each) => [...each.childNodes].some(({ nodeType, data }) => nodeType === 3 && data.trim());
  const texts = [...guide.querySelectorAll('*')].filter((each) => hasText(each) && !each.closest('a, button, summary, pre'));
  const isDisguised = (each) => {
    const { color, textDecorationLine } = getComputedStyle(each);
    return color === ofLinks || textDecorationLine !== 'none';
  };
  return { count: texts.length, found: texts.filter(isDisguised).map(({ outerHTML }) => outerHTML.slice(0, 80)) };
})()`;

browserTest('on a touch screen, the Copy button covers no code', async () => {
  const { page } = await browsing.open('/docs/limits', {
    viewport: { width: 390, height: 844 },
    hasTouch: true,
    isMobile: true,
  });
  const covered = await page.evaluate(`[...document.querySelectorAll('.code-block')].filter((block) => {
    const button = block.querySelector('.copy').getBoundingClientRect();
    const range = document.createRange();
    range.selectNodeContents(block.querySelector('code'));
    return [...range.getClientRects()].some((line) =>
      line.top < button.bottom && line.bottom > button.top && line.right > button.left);
  }).length`);
  expect(covered).toBe(0);
});

browserTest('only links look like links', async () => {
  const { page } = await open('/docs');
  for (const path of await guidePaths(page)) {
    await page.goto(browsing.url + path);
    const { count, found }: { count: number; found: string[] } = await page.evaluate(DISGUISED);
    expect([path, count > 5, found]).toEqual([path, true, []]);
  }
});

/** The parts of the top bar that are alone on a line, except lines that are meant for one part. */
const ALONE = `(() => {
  const parts = [...document.querySelector('.top').children].filter((each) => each.offsetHeight);
  const boxes = parts.map((each) => each.getBoundingClientRect());
  return parts.filter(({ className }, at) => {
    const isAlone = boxes.every(({ top, bottom }, i) => i === at || bottom <= boxes[at].top || top >= boxes[at].bottom);
    const isWholeLine = /^(site|tools) /.test(className) && boxes[at].width > 0.9 * document.querySelector('.top').clientWidth - 40;
    return isAlone && !isWholeLine && !(parts.length < 4 && className === 'home row');
  }).map(({ id, className }) => id || className);
})()`;

browserTest.each([
  ['/', '#health.good'],
  ['/docs', '#search-button'],
  ['/docs/rest', '#quota:not(:empty)'],
  ['/graphiql', '#quota:not(:empty)'],
  ['/admin', '#notice'],
])('no part of the top bar of %s is alone on a line at 1280 to 360 px', async (path, ready) => {
  const { page } = await open(path);
  await page.locator(ready).waitFor();
  for (const width of [1280, 1024, 820, 768, 740, 390, 360]) {
    await page.setViewportSize({ width, height: 600 });
    expect([width, await page.evaluate(ALONE), await widthOf(page)]).toEqual([width, [], width]);
  }
});

browserTest('on a phone, a tap on Contents opens the table of contents', async () => {
  const { page } = await open('/docs/limits', PHONE);
  const link = page.locator('.contents').getByText('Keys and scopes');
  expect(await link.isVisible()).toBe(false);
  await page.getByText('Contents').click();
  await link.click();
  await page.waitForURL(`${browsing.url}/docs/keys`);
});

browserTest('/docs/errors#rate_limited scrolls to the heading of the error code RATE_LIMITED', async () => {
  const { page } = await open('/docs/errors#rate_limited', PHONE);
  const heading = await page.locator('#rate_limited').boundingBox();
  expect(heading?.y).toBeGreaterThan(-1);
  expect(heading?.y).toBeLessThan(400);
});
