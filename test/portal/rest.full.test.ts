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

browserTest('an opened operation fits the width of a phone', async () => {
  const { page } = await browsing.open('/docs/rest#listPets', { viewport: { width: 390, height: 844 } });
  await page.locator('#operations-Pets-listPets.is-open .response').first().waitFor();
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
});
