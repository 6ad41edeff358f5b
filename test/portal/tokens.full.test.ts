import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { IdentityProvider } from '../access/identity-provider';
import { running } from '../helper/live';
import { until } from '../helper/until';
import { browserTest, enterKey, expectNoComplaints, useBrowsing } from './browsing';

/** The pages with the token of an end user instead of a key. */

let provider: IdentityProvider;
const browsing = useBrowsing(async () => {
  provider = await IdentityProvider.start();
  return { JWT_ISSUER: provider.issuer, JWT_AUDIENCE: 'shop', JWT_PLAN: 'pro' };
});
afterAll(() => provider.stop());

let users = 0;
/** The token of a user whom no other test has. */
const signIn = (claims = {}) => provider.sign({ sub: `user-${++users}`, ...claims });

browserTest('the start page shows the user and its quota, and examples that send the token', async () => {
  const start = await browsing.open('/');
  const { page } = start;
  const token = await signIn({ sub: 'ann' });
  await enterKey(page, { whole: token });
  await page.getByText('user “ann”, scopes: read, order').waitFor();
  expect(await page.locator('#plan').textContent()).toBe('PRO');
  await page.getByText('Usage is counted per key.').waitFor();
  const snippet = String(await page.locator('#request').textContent());
  expect(snippet).toContain('-H "Authorization: Bearer $PETSTORE_TOKEN"');
  const env = { PATH: process.env.PATH, PETSTORE_TOKEN: token };
  const { stdout } = await promisify(execFile)('sh', ['-c', `${snippet} -si`], { env });
  expect(stdout).toMatch(/x-ratelimit-limit: 300/i);
  for (const language of ['JavaScript', 'Python']) {
    await page.getByRole('button', { name: language, exact: true }).click();
    const text = String(await page.locator('#request').textContent());
    expect(text).toMatch(/"Bearer " \+ (process\.env\.PETSTORE_TOKEN|os\.environ\["PETSTORE_TOKEN"\])/);
    expect(text).not.toContain(token);
  }
  await page.getByRole('button', { name: 'GET /store/orders', exact: true }).click();
  await page.locator('#status', { hasText: '200 in' }).waitFor();
  expectNoComplaints(start);
});

browserTest('a token that has expired is rejected with its reason, and forgotten on request', async () => {
  const { page } = await browsing.open('/');
  await enterKey(page, { whole: await signIn({ exp: Math.floor(Date.now() / 1000) - 60 }) });
  await page.getByText('The token has expired.').waitFor();
  expect(await page.locator('#plan').textContent()).toBe('Token rejected');
  await page.getByText('Enter another token, or forget this token.').waitFor();
  await page.getByRole('button', { name: 'Forget' }).click();
  await page.getByText('without a key, scopes: read').waitFor();
});

browserTest('what is neither a key nor a token is not accepted', async () => {
  const { page } = await browsing.open('/');
  await enterKey(page, { whole: 'eyJhbGciOiJSUzI1NiJ9.e30' });
  await page.getByText('It does not begin with “ps_”.').waitFor();
  expect(await page.evaluate('sessionStorage.length')).toBe(0);
});

browserTest('GraphiQL places an order with the token, and subscribes with it', async () => {
  const token = await signIn();
  const graphiql = await browsing.open('/graphiql');
  const { page } = graphiql;
  await enterKey(page, { whole: token });
  await page.getByText('PRO · 300 left this minute').waitFor();
  const execute = async (tab: string) => {
    await page.getByRole('tab', { name: tab }).click();
    // GraphiQL detects the operation of a new tab only after a delay.
    await page.waitForTimeout(1_500);
    await page.getByRole('button', { name: /execute query/i }).click();
  };
  await execute('PlaceOrder');
  await page.locator('.result-window', { hasText: '"placeOrder": {' }).waitFor();
  await execute('PetChanges');
  await until(async () => (await running(browsing.gateway)) === 1);
  await browsing.gateway.data('mutation { createPet(input: { name: "Luna", categoryId: 1 }) { id } }');
  await page.locator('.result-window', { hasText: '"Luna"' }).waitFor();
  await page.getByRole('button', { name: /stop query/i }).click();
  await until(async () => (await running(browsing.gateway)) === 0);
  expectNoComplaints(graphiql);
});

browserTest('Swagger UI sends the token as a bearer token, and then a key', async () => {
  const pro = await browsing.gateway.createKey({ name: 'Acme', plan: 'PRO' });
  const token = await signIn();
  const rest = await browsing.open('/docs/rest');
  const { page } = rest;
  await enterKey(page, { whole: token });
  await page.getByText('PRO · 300 left this minute').waitFor();
  const operation = page.locator('#operations-Store-placeOrder');
  await operation.getByText('Place an order').first().click();
  await operation.getByRole('button', { name: 'Try it out' }).click();
  await operation.locator('textarea').fill('{ "quantity": 2 }');
  const execute = async () => {
    const sent = page.waitForRequest('**/store/orders');
    await operation.getByRole('button', { name: 'Execute' }).click();
    return (await sent).headers();
  };
  const first = await execute();
  expect([first.authorization, first['x-api-key']]).toEqual([`Bearer ${token}`, undefined]);
  await operation.locator('.live-responses-table', { hasText: '"quantity": 2' }).waitFor();
  await page.getByText('PRO · 299 left this minute').waitFor();
  await enterKey(page, pro);
  await page.getByText('PRO · 300 left this minute').waitFor();
  const second = await execute();
  expect([second.authorization, second['x-api-key']]).toEqual([undefined, pro.whole]);
  expectNoComplaints(rest);
});

browserTest('/admin says that a token has no access', async () => {
  const { page } = await browsing.open('/admin');
  await enterKey(page, { whole: await signIn() });
  await page.getByText('A token never has the scope ADMIN.').waitFor();
  expect(await page.locator('#admin').isVisible()).toBe(false);
});
