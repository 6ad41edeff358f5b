import type { Page } from 'playwright-core';
import { browserTest, enterKey, expectNoComplaints, useBrowsing } from './browsing';

/** The pages in a browser that blocks storage, or that gets only some of the resources. */

const browsing = useBrowsing();

const BLOCKED = `Object.defineProperty(window, 'sessionStorage', { get() { throw new DOMException('', 'SecurityError'); } });`;
const FULL = `Storage.prototype.setItem = () => { throw new DOMException('', 'QuotaExceededError'); };`;

/** What each page shows once it works. */
const SIGNS: readonly [path: string, sign: string][] = [
  ['/', '#plan:has-text("FREE")'],
  ['/admin', '#notice:has-text("Enter a key with the scope ADMIN")'],
  ['/graphiql', '.graphiql-query-editor'],
  ['/docs/rest', '#operations-Pets-listPets'],
  ['/docs/limits', 'main h1'],
];

describe.each([
  ['blocks the storage', BLOCKED],
  ['has a full storage', FULL],
])('in a browser that %s,', (_what, script) => {
  browserTest.each(SIGNS)('%s works, and uses a key until the page is left', async (path, sign) => {
    const opened = await browsing.open();
    const { page } = opened;
    await page.addInitScript(script);
    await page.goto(browsing.url + path);
    await page.locator(sign).first().waitFor();
    if (path !== '/docs/limits') {
      await enterKey(page, await browsing.gateway.createKey({ name: 'Acme', plan: 'PRO' }));
      await page
        .getByText(path === '/admin' ? /does not have the scope ADMIN/ : /PRO/)
        .first()
        .waitFor();
    }
    expectNoComplaints(opened);
  });
});

const MESSAGE = 'This page cannot be loaded. Reload it.';

browserTest.each([
  ['/docs/rest', '**/openapi.json'],
  ['/docs/rest', '**/swagger-ui.js'],
  ['/graphiql', '**/examples.graphql'],
  ['/graphiql', '**/vendor/graphiql.js'],
])('%s says that it cannot be loaded without %s', async (path, resource) => {
  for (const fail of [
    (page: Page) => page.route(resource, (route) => route.abort()),
    (page: Page) => page.route(resource, (route) => route.fulfill({ status: 503, body: '{}' })),
  ]) {
    const { page } = await browsing.open();
    await fail(page);
    await page.goto(browsing.url + path);
    await page.getByText(MESSAGE).waitFor();
  }
});

browserTest.each(['/docs/rest', '/graphiql'])('%s says that it is loading, except without JavaScript', async (path) => {
  const { page } = await browsing.open();
  await page.route(/openapi\.json|examples\.graphql/, () => undefined);
  await page.goto(browsing.url + path);
  await page.getByText('Loading…').waitFor();
  const plain = await browsing.open(path, { javaScriptEnabled: false });
  expect(await plain.page.getByText('Loading…').isVisible()).toBe(false);
});
