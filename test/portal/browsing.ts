import type { Browser, Page } from 'playwright-core';
import { emptyDatabase } from '../helper/database';
import { type Gateway, startGateway, type TestKey } from '../helper/gateway';
import { browserTest, launchBrowser, type Observed, openPage } from './browser';

/** A listening gateway with one pet, and a browser. The tests of a file share them. */
export class Browsing {
  gateway!: Gateway;
  url = '';
  private browser: Browser | undefined;
  private opened: Observed[] = [];

  /** @param settings the settings of the gateway; by default it has none. */
  async start(settings?: Record<string, string>): Promise<void> {
    this.gateway = await startGateway(settings);
    this.url = await this.gateway.listen();
    await emptyDatabase(this.gateway.database);
    await this.gateway.data('mutation { createCategory(input: { name: "Dogs" }) { id } }');
    await this.gateway.data('mutation { createPet(input: { name: "Rex", categoryId: 1 }) { id } }');
  }

  /** Opens a page in a new profile. @param path the path to load; without it the page stays blank. */
  async open(path?: string, options: object = {}): Promise<Observed> {
    this.browser ??= await launchBrowser();
    const observed = await openPage(this.browser, this.url, options);
    this.opened.push(observed);
    if (path) await observed.page.goto(this.url + path);
    return observed;
  }

  async closePages(): Promise<void> {
    await Promise.all(this.opened.splice(0).map(({ page }) => page.context().close()));
  }

  async stop(): Promise<void> {
    await this.browser?.close();
    await this.gateway.close();
  }
}

/** Starts a gateway and a browser for the tests of this file. @param settings makes the settings of the gateway. */
export function useBrowsing(settings?: () => Promise<Record<string, string>>): Browsing {
  const browsing = new Browsing();
  beforeAll(async () => browsing.start(await settings?.()));
  afterEach(() => browsing.closePages());
  afterAll(() => browsing.stop());
  return browsing;
}

export { browserTest };

/** Enters a key or token in the field that all pages have. */
export async function enterKey(page: Page, { whole }: Pick<TestKey, 'whole'>): Promise<void> {
  await page.getByLabel('API key', { exact: true }).fill(whole);
  await page.getByRole('button', { name: 'Use' }).click();
}

/** Expects no errors in the page, and no requests to other servers. */
export function expectNoComplaints({ complaints, outside }: Observed): void {
  expect([complaints, outside]).toEqual([[], []]);
}
