import type { TestKey } from '../helper/gateway';
import { running } from '../helper/live';
import { until } from '../helper/until';
import { browserTest, enterKey, expectNoComplaints, useBrowsing } from './browsing';

const browsing = useBrowsing();
let pro: TestKey;
beforeEach(async () => {
  pro = await browsing.gateway.createKey({ name: 'Acme', plan: 'PRO' });
});

describe('GraphiQL', () => {
  browserTest('runs an example with the key entered in the tab, and shows the remaining quota of the key', async () => {
    const graphiql = await browsing.open('/graphiql');
    const { page } = graphiql;
    await enterKey(page, pro);
    await page.getByText('PRO · 300 left this minute').waitFor();
    for (const name of [
      'AvailablePets',
      'WhereIStand',
      'AddCategory',
      'AddPet',
      'SetStock',
      'PlaceOrder',
      'PetChanges',
    ])
      expect(await page.getByRole('tab', { name }).count()).toBe(1);
    await page.getByRole('button', { name: /execute query/i }).click();
    await page.locator('.result-window', { hasText: '"Rex"' }).waitFor();
    await page.getByText('PRO · 299 left this minute').waitFor();
    await page.getByRole('button', { name: /show documentation explorer/i }).click();
    await page.getByText('Root Types').waitFor();
    expectNoComplaints(graphiql);
  });

  browserTest('subscribes to live events with the key entered in the tab', async () => {
    const graphiql = await browsing.open('/graphiql');
    const { page } = graphiql;
    await enterKey(page, pro);
    await page.getByText('PRO · 300 left this minute').waitFor();
    await page.getByRole('tab', { name: 'PetChanges' }).click();
    // GraphiQL detects the operation of a new tab only after a delay.
    await page.waitForTimeout(1_500);
    await page.getByRole('button', { name: /execute query/i }).click();
    await until(async () => (await running(browsing.gateway)) === 1);
    await browsing.gateway.data('mutation { createPet(input: { name: "Luna", categoryId: 1 }) { id } }');
    await page.locator('.result-window', { hasText: '"Luna"' }).waitFor();
    await page.getByRole('button', { name: /stop query/i }).click();
    await until(async () => (await running(browsing.gateway)) === 0);
    expectNoComplaints(graphiql);
  });

  browserTest('sends a key from its header editor, and does not store this key', async () => {
    const { page } = await browsing.open('/graphiql');
    await page.getByText('this minute').waitFor();
    await page.getByRole('button', { name: 'Headers' }).click();
    await page.locator('.graphiql-editor-tool .CodeMirror:visible').click();
    await page.keyboard.insertText(`{ "x-api-key": "${pro.whole}" }`);
    await page.getByRole('button', { name: /execute query/i }).click();
    await page.getByText('299 left this minute').waitFor();
    expect(await page.evaluate('JSON.stringify(localStorage)')).not.toContain(pro.whole);
  });

  browserTest.each([
    [640, 360],
    [320, 256],
    [320, 480],
    [1280, 300],
  ])('shows the result in a window of %i × %i px, as at a high zoom', async (width, height) => {
    const { page } = await browsing.open('/graphiql', { viewport: { width, height } });
    await page.locator('.graphiql-query-editor').waitFor();
    for (const pane of ['.graphiql-query-editor', '.graphiql-response']) {
      await page.locator(pane).scrollIntoViewIfNeeded();
      expect((await page.locator(pane).boundingBox())?.height).toBeGreaterThan(100);
    }
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
  });

  browserTest('shows the page header in one line on a desktop, and the result below the query on a phone', async () => {
    const desktop = await browsing.open('/graphiql', { viewport: { width: 1280, height: 800 } });
    await enterKey(desktop.page, pro);
    await desktop.page.getByText('PRO · 300 left this minute').waitFor();
    expect((await desktop.page.getByRole('banner').boundingBox())?.height).toBeLessThan(56);

    const { page } = await browsing.open('/graphiql', { viewport: { width: 390, height: 844 }, isMobile: true });
    const boxOf = async (pane: string) => (await page.locator(pane).boundingBox()) ?? { y: 0, width: 0, height: 0 };
    const [query, result] = [await boxOf('.graphiql-query-editor'), await boxOf('.graphiql-response')];
    expect(Math.min(query.width, result.width)).toBeGreaterThan(250);
    expect(result.y).toBeGreaterThanOrEqual(query.y + query.height);
    expect(result.height).toBeGreaterThan(200);
  });
});
