import type { TestKey } from '../helper/gateway';
import { running } from '../helper/live';
import { until } from '../helper/until';
import type { Observed } from './browser';
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

describe('Sandbox', () => {
  const APOLLO = ['embeddable-sandbox.cdn.apollographql.com', 'sandbox.embed.apollographql.com'];
  const hosts = ({ outside }: Observed) => [...new Set(outside.map((each) => new URL(each).hostname))];

  browserTest('contacts only Apollo, and is replaced by GraphiQL with a notice if Apollo is unreachable', async () => {
    const sandbox = await browsing.open('/graphql');
    const { page } = sandbox;
    await page.getByText('This is GraphiQL, served from here: Apollo’s servers').waitFor();
    expect(hosts(sandbox)).toEqual([APOLLO[0]]);
    expect(sandbox.complaints).toEqual([expect.stringContaining('Failed to load resource')]);
    await page.getByRole('tab', { name: 'AvailablePets' }).waitFor();
    await page.getByRole('button', { name: /execute query/i }).click();
    await page.locator('.result-window', { hasText: 'totalCount' }).waitFor();
  });

  browserTest('is embedded with examples, and sends the key entered in the tab only to the gateway', async () => {
    const sandbox = await browsing.open();
    const { page } = sandbox;
    // Imitates Apollo's script, which embeds an iframe of Apollo. The page sends the requests for this iframe.
    const script = `window.EmbeddedSandbox = class {
      constructor(options) {
        window.options = options;
        const frame = document.createElement('iframe');
        frame.src = 'https://sandbox.embed.apollographql.com/sandbox/explorer?endpoint=' + options.initialEndpoint;
        options.target.append(frame);
      }
    };`;
    const asked: string[] = [];
    await page.route(/apollographql\.com/, (route) => {
      asked.push(route.request().url());
      const isScript = route.request().resourceType() === 'script';
      return isScript
        ? route.fulfill({ contentType: 'text/javascript', body: script })
        : route.fulfill({ contentType: 'text/html', body: '<title>Sandbox</title>' });
    });
    const endpoint = `${browsing.url}/graphql`;
    await page.goto(endpoint);
    await page.locator('iframe').waitFor();
    await enterKey(page, pro);
    await page.getByText('PRO · 300 left').waitFor();
    expect(await page.evaluate('window.options')).toMatchObject({
      initialEndpoint: endpoint,
      initialState: { document: expect.stringContaining('query AvailablePets'), includeCookies: false },
      runTelemetry: false,
    });
    const answer = await page.evaluate(`window.options.handleRequest('${endpoint}', {
      method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"query":"{ viewer { plan } }"}',
    }).then((response) => response.json())`);
    expect(answer).toMatchObject({ data: { viewer: { plan: 'PRO' } } });
    expect(asked.map((each) => new URL(each).hostname)).toEqual(APOLLO);
    expect(asked.join()).not.toContain(pro.whole);
    expectNoComplaints(sandbox);
  });
});
