import type { Browser } from 'playwright-core';
import { browserTest, launchBrowser, type Observed, openPage, violations } from '../helper/browser';
import { emptyDatabase } from '../helper/database';
import { type Gateway, startGateway, type TestKey } from '../helper/gateway';

let gateway: Gateway;
let url: string;
let browser: Browser | undefined;
let pro: TestKey;
const opened: Observed[] = [];

beforeAll(async () => {
  gateway = await startGateway();
  url = await gateway.listen();
  await emptyDatabase(gateway.database);
  await gateway.data('mutation { createCategory(input: { name: "Dogs" }) { id } }');
  await gateway.data('mutation { createPet(input: { name: "Rex", categoryId: 1 }) { id } }');
  pro = await gateway.createKey({ name: 'Acme', plan: 'PRO' });
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map(({ page }) => page.context().close()));
});
afterAll(async () => {
  await browser?.close();
  await gateway.close();
});

async function open(path: string, options: object = {}): Promise<Observed> {
  browser ??= await launchBrowser();
  const observed = await openPage(browser, url, options);
  opened.push(observed);
  await observed.page.goto(url + path);
  await observed.page.locator('.filter:not([hidden])').waitFor({ state: 'attached' });
  return observed;
}

function expectNoComplaints({ complaints, outside }: Observed): void {
  expect(complaints).toEqual([]);
  expect(outside).toEqual([]);
}

const DESKTOP = { viewport: { width: 1280, height: 900 } };
const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true };
const SCHEMES = ['light', 'dark'].flatMap((colorScheme) =>
  [DESKTOP, PHONE].map((screen) => ({ ...screen, colorScheme })),
);

describe.each(SCHEMES)('with %j', (options) => {
  browserTest.each(['/docs/rest#placeOrder', '/docs/graphql#Query.pets', '/docs/errors#insufficient_stock'])(
    '%s is accessible and fits',
    async (path) => {
      const observed = await open(path, options);
      const { page } = observed;
      const { y } = (await page.locator(`[id="${path.split('#')[1]}"]`).boundingBox()) ?? { y: -1 };
      expect([y >= 0, y < options.viewport.height]).toEqual([true, true]);
      if (path.startsWith('/docs/rest')) await page.locator('#placeOrder').getByText('Try it').click();
      expect(await violations(page)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(options.viewport.width);
      expectNoComplaints(observed);
    },
    30_000,
  );
});

describe('the REST reference', () => {
  browserTest('tries an operation with the key of the tab, and shows it as a command', async () => {
    const rest = await open('/docs/rest');
    const { page } = rest;
    await page.getByLabel('API key').fill(pro.whole);
    await page.getByRole('button', { name: 'Use' }).click();
    const list = page.locator('#listPets');
    expect(await list.locator('.curl').textContent()).toContain(`curl -i '${url}/pets`);
    await list.getByText('Try it').click();
    await list.locator('[name=status]').fill('available, sold');
    await list.locator('[name=limit]').fill('1');
    expect(await list.locator('.curl').textContent()).toBe(
      `curl -i '${url}/pets?limit=1&status=available&status=sold' \\\n  -H "X-API-Key: $PETSTORE_API_KEY"`,
    );
    await list.getByRole('button', { name: 'Send' }).click();
    await list.getByText(/^200 in \d+ ms · 299 left$/).waitFor();
    expect(JSON.parse((await list.locator('.answer').textContent()) ?? '')).toMatchObject([{ name: 'Rex' }]);
    expect(await list.locator('.received pre').textContent()).toContain('x-ratelimit-limit: 300');
    expectNoComplaints(rest);

    // Another page of the same tab does not ask for the key again.
    await page.goto(`${url}/docs/rest#createPet`);
    const create = page.locator('#createPet');
    await create.getByText('Try it').click();
    const body = create.locator('[name=body]');
    await body.fill('{ "categoryId": 9223372036854775807 }');
    await body.press('Home');
    await body.pressSequentially('{ "name": "A/B",', { delay: 1 });
    await body.press('Delete');
    expect(await body.inputValue()).toBe('{ "name": "A/B", "categoryId": 9223372036854775807 }');
    await create.getByRole('button', { name: 'Send' }).click();
    await create.getByText(/^422 in \d+ ms · 298 left$/).waitFor();
    expect(await create.locator('.answer').textContent()).toContain('Category 9223372036854775807 does not exist.');
  });

  browserTest('shows what matches the filter, and all that a link leads to', async () => {
    const { page } = await open('/docs/rest');
    await page.getByLabel('Filter').fill('insufficient_stock');
    await page.getByText(/^2 of \d+$|^3 of \d+$/).waitFor();
    expect(await page.locator('#placeOrder').isVisible()).toBe(true);
    expect(await page.locator('#listPets').isVisible()).toBe(false);
    expect(await page.locator('.listed li:visible').count()).toBeLessThan(4);
    await page.evaluate(`location.hash = '#listPets'`);
    await page.locator('#listPets').waitFor();
    expect(await page.getByLabel('Filter').inputValue()).toBe('');
  });
});

describe('the GraphQL reference', () => {
  browserTest('leads from an operation to its types and errors, and back', async () => {
    const graphql = await open('/docs/graphql');
    const { page } = graphql;
    await page.getByLabel('Filter').fill('placeOrder');
    await page.locator('[id="Mutation.placeOrder"]').getByRole('link', { name: 'NewOrder' }).first().click();
    await page.locator('[id="NewOrder"]').waitFor();
    expect(await page.locator('[id="NewOrder"]').textContent()).toContain('Used by Mutation.placeOrder(input:).');
    await page.locator('[id="Mutation.placeOrder"]').getByRole('link', { name: '409 INSUFFICIENT_STOCK' }).click();
    await page.getByText('Fewer units are in stock than the order asks for.').waitFor();
    expect(page.url()).toBe(`${url}/docs/errors#insufficient_stock`);
    expectNoComplaints(graphql);
  });
});
