import { violations } from './browser';
import { browserTest, enterKey, expectNoComplaints, useBrowsing } from './browsing';

const browsing = useBrowsing();

browserTest('Swagger UI sends a request with the key entered in the tab, and shows the remaining quota', async () => {
  const pro = await browsing.gateway.createKey({ name: 'Acme', plan: 'PRO' });
  const rest = await browsing.open('/docs/rest');
  const { page } = rest;
  await enterKey(page, pro);
  await page.getByText('PRO · 300 left this minute').waitFor();
  const operation = page.locator('#operations-Pets-listPets');
  await operation.getByText('List pets').click();
  await operation.getByRole('button', { name: 'Try it out' }).click();
  await operation.getByRole('button', { name: 'Execute' }).click();
  await operation.locator('.live-responses-table', { hasText: '"Rex"' }).waitFor();
  await page.getByText('PRO · 299 left this minute').waitFor();
  expect(await operation.locator('.curl-command').textContent()).toContain(pro.whole);

  await page.getByRole('button', { name: 'Forget' }).click();
  const sent = page.waitForRequest('**/pets*');
  await operation.getByRole('button', { name: 'Execute' }).click();
  expect((await sent).headers()).not.toHaveProperty('x-api-key');
  expectNoComplaints(rest);
});

browserTest.each(['#placeOrder', '#/Store/placeOrder'])('/docs/rest%s opens the named operation', async (hash) => {
  const rest = await browsing.open(`/docs/rest${hash}`);
  await rest.page.locator('#operations-Store-placeOrder.is-open').waitFor();
  await rest.page.evaluate(`location.hash = 'createPet'`);
  await rest.page.locator('#operations-Pets-createPet.is-open').waitFor();
  expectNoComplaints(rest);
});

browserTest('Back and Forward between operations keep what the user has typed', async () => {
  const rest = await browsing.open('/docs/rest');
  const { page } = rest;
  const create = page.locator('#operations-Pets-createPet');
  await create.getByText('Create a pet').first().click();
  await create.getByRole('button', { name: 'Try it out' }).click();
  await create.locator('textarea').fill('{ "name": "Typed" }');
  await page.locator('#operations-Pets-listPets').getByText('List pets').click();
  await page.waitForURL(/listPets/);
  await page.goBack();
  await page.waitForURL(/createPet/);
  await page.waitForTimeout(500);
  expect(await create.locator('textarea').inputValue()).toBe('{ "name": "Typed" }');
  expectNoComplaints(rest);
});

browserTest('the link that skips the top bar moves the focus into the content', async () => {
  const { page } = await browsing.open('/docs/rest');
  await page.locator('#operations-Pets-listPets').waitFor();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  expect(await page.evaluate("document.querySelector('#content').contains(document.activeElement)")).toBe(true);
});

browserTest('no open operation is higher than four screens of a desktop, and each shows its errors', async () => {
  const { page } = await browsing.open('/docs/rest');
  const operations = page.locator('.opblock');
  await operations.first().waitFor();
  await page.evaluate("for (const each of document.querySelectorAll('.opblock-summary-control')) each.click()");
  await page.locator('.opblock:not(:has(.opblock-body))').first().waitFor({ state: 'detached' });
  const heights: [string, number][] = await operations.evaluateAll((all) =>
    all.map(({ id, offsetHeight }) => [id, offsetHeight]),
  );
  expect(heights.length).toBeGreaterThan(20);
  expect(heights.filter(([, height]) => height > 4 * 800)).toEqual([]);
  const open = page.locator('#operations-Pets-updatePet');
  for (const code of ['BAD_USER_INPUT', 'NOT_FOUND', 'PRECONDITION_FAILED', 'RATE_LIMITED', 'SERVICE_UNAVAILABLE'])
    await open.locator('.response', { hasText: code }).first().waitFor();
  await open.locator('.response', { hasText: 'ETag' }).first().waitFor();
});

browserTest('the page has one main element, and deprecated operations have enough contrast', async () => {
  for (const colorScheme of ['light', 'dark']) {
    const { page } = await browsing.open('/docs/rest', { colorScheme, bypassCSP: true });
    const deprecated = page.locator('.opblock-deprecated');
    await deprecated.first().waitFor();
    expect(await page.locator('main').count()).toBe(1);
    expect(await violations(page, ['landmark-one-main', 'landmark-no-duplicate-main'])).toEqual([]);
    const contrast = "axe.run('.opblock-deprecated', { runOnly: ['color-contrast'] })";
    expect(await page.evaluate(`${contrast}.then(({ violations }) => violations)`)).toEqual([]);
  }
});

browserTest('an opened operation fits the width of a phone', async () => {
  const { page } = await browsing.open('/docs/rest#listPets', { viewport: { width: 390, height: 844 } });
  await page.locator('#operations-Pets-listPets.is-open .response').first().waitFor();
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
});
