import type { Page } from 'playwright-core';
import { ADMIN_KEY, type TestKey } from '../helper/gateway';
import { until } from '../helper/until';
import { violations } from './browser';
import { browserTest, enterKey, expectNoComplaints, useBrowsing } from './browsing';

const browsing = useBrowsing();
let acme: TestKey;
beforeAll(async () => {
  const { gateway } = browsing;
  for (let i = 0; i < 24; i++) await gateway.createKey({ name: `Shop ${i}` });
  acme = await gateway.createKey({ name: 'Acme <b>& Sons</b>', plan: 'ENTERPRISE', perMinute: 5, perDay: 100 });
  for (let i = 0; i < 25; i++) await gateway.app.inject({ url: '/pets', headers: acme.headers });
});

/** Opens /admin with a key. */
async function open(options: object = {}, whole = ADMIN_KEY) {
  const admin = await browsing.open('/admin', options);
  await enterKey(admin.page, { whole });
  return admin;
}

const keys = (page: Page) => page.getByRole('list', { name: 'Keys' }).getByRole('listitem');
const keyNamed = (page: Page, name: string) => keys(page).filter({ hasText: name });

const search = (page: Page, text: string) => page.getByLabel('Search by name or id').fill(text);

async function apiKey(id: string) {
  const query = 'query ($id: ID!) { apiKey(id: $id) { revokedAt bannedUntil expiresAt } }';
  return (await browsing.gateway.data(query, { id })).apiKey;
}

describe('/admin', () => {
  browserTest('shows keys page by page, and finds them by name and id', async () => {
    const admin = await open();
    const { page } = admin;
    await keyNamed(page, 'Acme').waitFor();
    expect(await keys(page).count()).toBe(20);
    expect(await page.locator('#total').textContent()).toBe('26 keys');
    await page.getByRole('button', { name: 'Older' }).click();
    await keyNamed(page, 'Shop 0').waitFor();
    expect(await keys(page).count()).toBe(6);
    await page.getByRole('button', { name: 'Newer' }).click();
    await keyNamed(page, 'Acme').waitFor();
    await search(page, 'sHOP 2');
    await page.getByText('5 keys', { exact: true }).waitFor();
    await search(page, acme.id.slice(0, 8));
    await page.getByText('1 key', { exact: true }).waitFor();
    expect(await keyNamed(page, 'Acme <b>& Sons</b>').count()).toBe(1);
    await search(page, 'nobody');
    await page.getByText('No keys match.').waitFor();
    expectNoComplaints(admin);
  });

  browserTest('keeps its place in the list if the user clicks twice, or a page cannot be loaded', async () => {
    const admin = await open();
    const { page } = admin;
    const [older, newer] = ['Older', 'Newer'].map((name) => page.getByRole('button', { name, exact: true }));
    const first = keyNamed(page, 'Acme');
    const second = keyNamed(page, 'Shop 0');
    await first.waitFor();
    await page.route('**/graphql', async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 300));
      await route.continue();
    });
    await older?.dblclick();
    await second.waitFor();
    await newer?.dblclick();
    await first.waitFor();
    await page.waitForTimeout(1000);
    expect([await newer?.isDisabled(), await older?.isDisabled()]).toEqual([true, false]);
    await page.unroute('**/graphql');

    const notice = page.locator('#notice');
    await page.context().setOffline(true);
    await older?.click();
    await notice.getByText('does not respond').waitFor();
    await page.context().setOffline(false);
    await older?.click();
    await second.waitFor();
    // The error is over.
    expect(await notice.textContent()).toBe('');
    await newer?.click();
    await first.waitFor();
    expect(await newer?.isDisabled()).toBe(true);
  });

  browserTest('shows the usage and the remaining quota of a key, and lifts its ban', async () => {
    const admin = await open();
    const { page } = admin;
    await search(page, 'Acme');
    const key = keyNamed(page, 'Acme');
    await key.getByText('banned until').waitFor();
    expect(await key.getByRole('img').getAttribute('aria-label')).toBe('Last 30 days: 5 requests, 20 refused, 1 ban');
    expect(await key.getByRole('meter', { name: 'Left this minute' }).getAttribute('aria-valuenow')).toBe('0');
    await page.getByRole('listitem').filter({ hasText: 'Acme <b>& Sons</b> 5 requests, 20 refused, 1 ban' }).waitFor();
    await key.getByRole('button', { name: 'Lift ban' }).click();
    await page.getByText('The ban of “Acme <b>& Sons</b>” is lifted.').waitFor();
    await key.getByText('banned until').waitFor({ state: 'detached' });
    expect((await apiKey(acme.id))?.bannedUntil).toBeNull();
    expectNoComplaints(admin);
  });

  browserTest('offers four periods for the callers with the most requests', async () => {
    const { page } = await open();
    const period = page.getByLabel('Period');
    await period.waitFor();
    expect(await period.getByRole('option').allTextContents()).toEqual([
      'today',
      'last 7 days',
      'last 30 days',
      'last 400 days',
    ]);
  });

  browserTest('creates a key and shows its secret once; changes, rotates and revokes the key', async () => {
    const admin = await open();
    const { page } = admin;
    const dialog = page.getByRole('dialog');
    const field = (name: string) => dialog.getByLabel(name);
    await page.getByRole('button', { name: 'Create a key…' }).click();
    await field('Name').fill('Brand new');
    await field('Plan').selectOption('ENTERPRISE');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.getByText('Requests per minute: must be given for the plan ENTERPRISE').waitFor();
    await field('Plan').selectOption('PRO');
    await dialog.getByRole('button', { name: 'Create' }).click();
    const secret = String(await dialog.locator('#secret').textContent());
    expect(secret).toMatch(/^ps_[0-9a-z]{12}_[0-9A-Za-z]{32}$/);
    const use = async (whole: string) =>
      (await browsing.gateway.app.inject({ url: '/pets', headers: { 'x-api-key': whole } })).statusCode;
    expect(await use(secret)).toBe(200);
    for (let i = 0; i < 3; i++) await page.keyboard.press('Escape');
    expect(await dialog.locator('#secret').textContent()).toBe(secret);
    await dialog.getByRole('button', { name: 'I have saved the key' }).click();
    await keyNamed(page, 'Brand new').waitFor();
    expect((await page.content()).includes(secret)).toBe(false);

    await page.getByRole('button', { name: 'Change Brand new' }).click();
    await field('Name').fill('Renamed');
    await field('Plan').selectOption('BUSINESS');
    await page.keyboard.press('Enter');
    await keyNamed(page, 'Renamed').getByText('BUSINESS').waitFor();

    await page.getByRole('button', { name: 'Rotate Renamed' }).click();
    expect(await field('The old secret still works for').getByRole('option').allTextContents()).toEqual([
      '24 hours',
      'one hour',
      '7 days',
      'no time: it has leaked',
    ]);
    await field('The old secret still works for').selectOption('0');
    await dialog.getByRole('button', { name: 'Rotate' }).click();
    const next = String(await dialog.locator('#secret').textContent());
    expect([await use(secret), await use(next)]).toEqual([401, 200]);
    await dialog.getByRole('button', { name: 'I have saved the key' }).click();

    const id = String(secret.split('_')[1]);
    await page.getByRole('button', { name: 'Revoke Renamed' }).click();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    expect((await apiKey(id))?.revokedAt).toBeNull();
    await page.getByRole('button', { name: 'Revoke Renamed' }).click();
    await dialog.getByRole('button', { name: 'Revoke' }).click();
    await keyNamed(page, 'Renamed').waitFor({ state: 'detached' });
    expect(await use(next)).toBe(401);
    await page.getByLabel('Which keys').selectOption('Revoked or expired');
    await keyNamed(page, 'Renamed').getByText('revoked').waitFor();
    expectNoComplaints(admin);
  });

  browserTest('shows the last hundred changes, the newest first, and who has made them', async () => {
    const admin = await open();
    const { page } = admin;
    await keyNamed(page, 'Acme').waitFor();
    const create = (n: number) => `c${n}: createCategory(input: { name: "Kind ${n}" }) { id }`;
    const numbers = Array.from({ length: 99 }, (_, i) => i);
    const data = await browsing.gateway.data(`mutation { ${numbers.map(create)} }`);
    await page.getByText('Last changes').click();
    const changes = page.locator('#changes').getByRole('listitem');
    await changes.first().getByText(`category ${data.c98?.id} created`).waitFor();
    expect(await changes.count()).toBe(100);
    expect(await changes.first().textContent()).toMatch(/UTC, by testadmin000, request [\w-]+/);
    await page.getByRole('button', { name: 'Revoke Shop 23' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await changes
      .first()
      .getByText(/^api key \w+ revoked$/)
      .waitFor();
    expectNoComplaints(admin);
  });

  browserTest('lifts the ban of an address, and says if the address was not banned', async () => {
    const remoteAddress = '192.0.2.77';
    for (let i = 0; i < 80; i++)
      await browsing.gateway.app.inject({ url: '/pets', headers: { 'x-api-key': undefined }, remoteAddress });
    const { page } = await open();
    const lift = async (caller: string) => {
      await page.getByRole('button', { name: 'Lift a ban…' }).click();
      await page.getByRole('dialog').getByLabel('Address, key id or user id').fill(caller);
      await page.keyboard.press('Enter');
    };
    await lift(remoteAddress);
    await page.getByText('The ban of 192.0.2.77 is lifted.').waitFor();
    await lift(remoteAddress);
    await page.getByText('192.0.2.77 was not banned.').waitFor();
    await lift('nowhere');
    await page.getByText("Address, key id or user id: must be a key id, an IP address or a user's id").waitFor();
  });

  browserTest('explains why it shows no keys if the key is malformed or lacks the scope ADMIN', async () => {
    const pro = await browsing.gateway.createKey({ name: 'Reader', plan: 'PRO', scopes: ['READ'] });
    const { page } = await open({}, pro.whole);
    await page.getByText('The key “Reader” does not have the scope ADMIN.').waitFor();
    const state = () => page.locator('#notice').getAttribute('class');
    expect([await keys(page).count(), await state()]).toEqual([0, 'bad']);
    await page.getByRole('button', { name: 'Forget' }).click();
    await page.getByText('Enter a key with the scope ADMIN').waitFor();
    expect(await state()).toBe('soft');
    await page.getByLabel('API key', { exact: true }).fill(ADMIN_KEY.slice(0, -1));
    await page.keyboard.press('Enter');
    await page.getByText('Its secret has 31 characters instead of 32.').waitFor();
  });

  browserTest('keeps the focus in the list, and shows confirmations where the user is', async () => {
    for (const name of ['Zookeepers', 'Yard', 'Gatekeepers']) await browsing.gateway.createKey({ name });
    const { page } = await open({ viewport: { width: 1280, height: 500 } });
    const dialog = page.getByRole('dialog');
    const confirm = (name: string) => dialog.getByRole('button', { name, exact: true }).click();
    /** What has the focus: the name of a button or the text of a key. */
    const focused = async () =>
      String(
        await page.evaluate(
          '(({ ariaLabel, tagName, innerText }) => ariaLabel ?? (tagName === "BODY" ? tagName : innerText.trim().split("\\n")[0]))(document.activeElement)',
        ),
      );
    /** Expects that this gets the focus when the dialog has closed, and keeps it. */
    const expectFocus = async (name: string) => {
      await dialog.waitFor({ state: 'hidden' });
      await until(async () => (await focused()) === name).catch(() => undefined);
      await page.waitForTimeout(200);
      expect(await focused()).toBe(name);
    };
    const expectConfirmation = async (text: string) => {
      const box = await page.getByText(text).boundingBox();
      expect([text, box && box.y >= 0 && box.y + box.height <= 500]).toEqual([text, true]);
    };
    await search(page, 'Shop 1');
    await page.getByText('11 keys', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Change Shop 1', exact: true }).click();
    await confirm('Change');
    await expectConfirmation('“Shop 1” is changed.');
    await expectFocus('Change Shop 1');
    expect(await page.evaluate('scrollY')).toBeGreaterThan(500);

    await page.getByRole('button', { name: 'Rotate Shop 1', exact: true }).click();
    await confirm('Rotate');
    await dialog.getByText(/The old secret works until \w+ \d+, \d{4}, \d\d:\d\d UTC\./).waitFor();
    await confirm('I have saved the key');
    await expectConfirmation('“Shop 1” has a new secret. The old secret works until');
    await expectFocus('Rotate Shop 1');
    await keyNamed(page, 'Shop 1')
      .getByText(/^old secret works until \w+ \d+, \d{4}, \d\d:\d\d UTC$/)
      .waitFor();

    await page.getByRole('button', { name: 'Revoke Shop 1', exact: true }).click();
    await confirm('Cancel');
    await expectFocus('Revoke Shop 1');
    await page.getByLabel('Which keys').selectOption('All');
    await page.getByRole('button', { name: 'Revoke Shop 1', exact: true }).click();
    await confirm('Revoke');
    await expectConfirmation('“Shop 1” is revoked.');
    await expectFocus('Shop 1');

    // A key that leaves the list hands the focus to the key in its place.
    await page.getByLabel('Which keys').selectOption('Active');
    await search(page, 'keepers');
    await keyNamed(page, 'Zookeepers').waitFor();
    await page.getByRole('button', { name: 'Revoke Gatekeepers' }).click();
    await confirm('Revoke');
    await keyNamed(page, 'Gatekeepers').waitFor({ state: 'detached' });
    await expectFocus('Zookeepers');

    await search(page, '');
    // The page searches a moment after the typing, and then shows the first page. Only this search finds Yard.
    await keyNamed(page, 'Yard').waitFor();
    await page.getByRole('button', { name: 'Older' }).click();
    await keyNamed(page, 'Shop 0').waitFor();
    expect(await focused()).not.toBe('BODY');
    expect((await page.locator(':focus').boundingBox())?.y).toBeGreaterThanOrEqual(0);
    await page.getByRole('button', { name: 'Forget' }).click();
    expect(await page.evaluate('document.activeElement.id')).toBe('api-key');
  });

  browserTest('names the fields of a form as the form does in errors, and moves the focus to the first', async () => {
    const { page } = await open();
    const dialog = page.getByRole('dialog');
    const field = (name: string) => dialog.getByLabel(name);
    const problem = () => dialog.getByRole('alert').textContent();
    await page.getByRole('button', { name: 'Create a key…' }).click();
    await field('Name').fill(' ');
    await field('Plan').selectOption('ENTERPRISE');
    for (const scope of ['read', 'write']) await field(scope).uncheck();
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.getByText('Name: must not be empty').waitFor();
    expect(await problem()).toBe(
      [
        'Name: must not be empty',
        'Scopes: must name at least one scope',
        'Requests per minute: must be given for the plan ENTERPRISE',
        'Requests per day: must be given for the plan ENTERPRISE',
      ].join('; '),
    );
    expect(await page.evaluate('document.activeElement.name')).toBe('name');
    expect(await dialog.locator('[aria-invalid=true]').count()).toBeGreaterThan(3);
    await field('Name').fill('Named');
    await field('read').check();
    await field('Requests per minute').fill('10');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.getByText(/^Requests per day: must be given for the plan ENTERPRISE$/).waitFor();
    expect(await page.evaluate('document.activeElement.name')).toBe('perDay');
    expect(await dialog.locator('[aria-invalid=true]').count()).toBe(1);
    await page.route('**/graphql', (route) => route.fulfill({ status: 502, body: '<h1>Bad Gateway</h1>' }));
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.getByText('The server does not respond.').waitFor();
  });

  browserTest.each(['America/Los_Angeles', 'Pacific/Auckland'])(
    'shows every time in UTC in a browser in %s, and keeps the seconds of an expiry that is not changed',
    async (timezoneId) => {
      const expiresAt = '2031-12-31T23:30:45.000Z';
      const name = `Expiring ${timezoneId}`;
      const key = await browsing.gateway.createKey({ name, expiresAt, perMinute: 1, perDay: 100, plan: 'ENTERPRISE' });
      for (let i = 0; i < 22; i++) await browsing.gateway.app.inject({ url: '/pets', headers: key.headers });
      const { page } = await open({ timezoneId });
      await search(page, name);
      const item = keyNamed(page, name);
      await item.getByText('expires Dec 31, 2031').waitFor();
      const until = (await apiKey(key.id))?.bannedUntil;
      await item.getByText(`banned until ${String(until).slice(11, 16)} UTC`).waitFor();
      await page.getByRole('button', { name: `Change ${name}` }).click();
      expect(await page.getByLabel('Expires (UTC; empty: never)').inputValue()).toBe('2031-12-31T23:30');
      await page.getByRole('dialog').getByRole('button', { name: 'Change' }).click();
      await page.getByText(`“${name}” is changed.`).waitFor();
      expect((await apiKey(key.id))?.expiresAt).toBe(expiresAt);
    },
  );

  browserTest(
    'offers for keys that have ended only what works, and breaks no tag or button into two lines',
    async () => {
      const revoked = await browsing.gateway.createKey({
        name: 'Ended early',
        plan: 'ENTERPRISE',
        perMinute: 1,
        perDay: 9,
      });
      for (let i = 0; i < 22; i++) await browsing.gateway.app.inject({ url: '/pets', headers: revoked.headers });
      await browsing.gateway.createKey({ name: 'Ended later', expiresAt: new Date(Date.now() - 1000).toISOString() });
      await browsing.gateway.data('mutation ($id: ID!) { revokeApiKey(id: $id) { id } }', { id: revoked.id });
      for (const width of [1280, 1000, 768, 390]) {
        const { page } = await open({ viewport: { width, height: 800 } });
        await page.getByLabel('Which keys').selectOption('All');
        await keyNamed(page, 'Ended early').waitFor();
        const parts = (name: string, selector: string) => keyNamed(page, name).locator(selector).allTextContents();
        expect([await parts('Ended early', 'button'), await parts('Ended early', '[data-window]')]).toEqual([[], []]);
        expect(await parts('Ended early', '.tag')).toEqual([
          'ENTERPRISE',
          expect.stringMatching(/^revoked \w+ \d+, \d+$/),
        ]);
        expect(await parts('Ended later', 'button')).toEqual(['Change', 'Revoke']);
        expect(await parts('Ended later', '[data-window]')).toEqual([]);
        const broken = await page
          .locator('#keys :is(.tag, button)')
          .evaluateAll((all) => all.filter((each) => each.getClientRects().length > 1 || each.offsetHeight > 40));
        expect([width, broken]).toEqual([width, []]);
      }
    },
  );

  browserTest('is accessible on a desktop and on a phone, in light and dark mode', async () => {
    const found: string[] = [];
    for (const colorScheme of ['light', 'dark'])
      for (const viewport of [
        { width: 1280, height: 800 },
        { width: 390, height: 844 },
      ]) {
        const { page } = await open({ colorScheme, viewport, bypassCSP: true });
        await keyNamed(page, 'Acme').waitFor();
        found.push(...(await violations(page)));
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(viewport.width);
        await page.getByRole('button', { name: 'Create a key…' }).click();
        found.push(...(await violations(page)));
      }
    expect(found).toEqual([]);
  });

  browserTest('creates a key that shares the quota of another key, and changes only its other fields', async () => {
    const admin = await open();
    const { page } = admin;
    await page.getByRole('button', { name: 'Create a key' }).click();
    await page.getByLabel('Name', { exact: true }).fill('Acme import');
    await page.getByLabel('Shares the quota of').fill(acme.id);
    expect(await page.getByLabel('Plan').isVisible()).toBe(false);
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByRole('button', { name: 'I have saved the key' }).click();
    await search(page, 'Acme import');
    const key = keyNamed(page, 'Acme import');
    await key.getByText(`shares the quota of ${acme.id}`).waitFor();
    expect(await key.getByText('ENTERPRISE').count()).toBe(1);
    await key.getByRole('button', { name: 'Change' }).click();
    expect(await page.getByLabel('Plan').count()).toBe(0);
    await page.getByLabel('Name', { exact: true }).fill('Acme imports');
    await page.getByRole('dialog').getByRole('button', { name: 'Change' }).click();
    await keyNamed(page, 'Acme imports').waitFor();
    expectNoComplaints(admin);
  });

  browserTest('shows until when the old secret of a rotated key works', async () => {
    const admin = await open();
    const { page } = admin;
    await search(page, 'Shop 3');
    await keyNamed(page, 'Shop 3').getByRole('button', { name: 'Rotate' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click();
    await page.getByRole('button', { name: 'I have saved the key' }).click();
    await keyNamed(page, 'Shop 3').getByText('old secret works until').waitFor();
    expectNoComplaints(admin);
  });
});
