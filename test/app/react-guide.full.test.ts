import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { PROJECT } from '../helper/command';
import { freePort } from '../helper/free-port';
import { ADMIN_KEY } from '../helper/gateway';
import { Installation } from '../helper/installation';
import { type GatewayProcess, Program } from '../helper/process';
import { until } from '../helper/until';
import { browserTest, launchBrowser } from '../portal/browser';

/** The code of docs/react.md, in Chromium: the page is rendered by its own server, and its gateway has another origin. */

const NAMES = Array.from({ length: 25 }, (_, i) => `Pet ${String(i + 1).padStart(2, '0')}`);

const MODULES = join(PROJECT, 'node_modules');
const GUIDE = readFileSync(join(PROJECT, 'docs', 'react.md'), 'utf8');
/** The commands of the guide that bundle its files. */
const COMMANDS = GUIDE.match(/^npx esbuild .*$/gm) ?? [];

/** The files of the guide by name. */
const files = Object.fromEntries(
  [...GUIDE.matchAll(/^```tsx?\n(\/\/ (\S+)\n[\s\S]*?)^```/gm)].map(([, code = '', name = '']) => [name, code]),
);

describe.each(['apollo', 'urql'])('with %s', (client) => {
  const installation = new Installation({ ADMIN_API_KEY: ADMIN_KEY });
  const directory = mkdtempSync(join(tmpdir(), 'react-'));
  let gateway: GatewayProcess;
  let server: Program;
  let browser: Browser;
  let page: Page;
  let port: string;
  let url: string;
  const complaints: string[] = [];
  const sent: string[] = [];

  beforeAll(async () => {
    port = String(await freePort());
    gateway = await installation.start({ PORT: port });
    for (const [name, code] of Object.entries(files)) {
      const here = code.replace('http://localhost:4000', gateway.url).replace("'./apollo'", `'./${client}'`);
      writeFileSync(join(directory, name), here);
    }
    for (const command of COMMANDS) {
      const [, , ...args] = command.replace('apollo', client).split(' ');
      await promisify(execFile)(join(MODULES, '.bin', 'esbuild'), args, {
        cwd: directory,
        env: { NODE_PATH: MODULES },
      });
    }
    await write('mutation { createCategory(input: { name: "Dogs" }) { id } }');
    for (const name of NAMES) await create(name);
    await write('mutation { placeOrder(input: { petId: 2 }) { id } }');
    const { data } = await write('mutation { createApiKey(input: { name: "shop" }) { secret } }');
    const pagePort = String(await freePort());
    const environment = { PORT: pagePort, PETSTORE_API_KEY: (data.createApiKey as { secret: string }).secret };
    server = new Program([process.execPath, 'server.cjs'], environment, directory);
    url = `http://127.0.0.1:${pagePort}`;
    await until(() =>
      fetch(url).then(
        ({ ok }) => ok,
        () => false,
      ),
    );
    browser = await launchBrowser();
    page = await browser.newPage();
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('request', (request) => {
      if (request.url() === `${gateway.url}/graphql` && request.method() === 'POST')
        sent.push(request.postData() ?? '');
    });
    await page.goto(url);
    await subscribed();
  });
  afterAll(async () => {
    await browser?.close();
    await server?.stop();
    await installation.remove();
    rmSync(directory, { recursive: true });
  });

  async function write(query: string) {
    const answer = await gateway.graphql<{ data: Record<string, unknown>; errors?: unknown }>(query, {
      'x-api-key': ADMIN_KEY,
    });
    expect(answer.errors).toBeUndefined();
    return answer;
  }
  const create = (name: string) => write(`mutation { createPet(input: { name: "${name}", categoryId: 1 }) { id } }`);
  const update = (id: number, input: string) => write(`mutation { updatePet(id: ${id}, input: { ${input} }) { id } }`);
  const subscribed = () => until(async () => /^petstore_subscriptions 1$/m.test(await gateway.metrics()), 60);
  const rows = async () => (await page.locator('li').allInnerTexts()).map((text) => text.replace(/ \(.*$/s, ''));
  const row = (name: string) => page.locator('li', { hasText: name });
  const alerts = async () => (await page.getByRole('alert').allInnerTexts()).filter(Boolean);
  const shows = (names: string[], seconds = 10) =>
    until(async () => JSON.stringify(await rows()) === JSON.stringify(names), seconds).catch(async () =>
      expect(await rows()).toEqual(names),
    );

  browserTest('the first page is in the HTML, and is not requested again by the browser', async () => {
    const html = await (await fetch(url)).text();
    for (const name of NAMES.slice(0, 20)) expect(html).toContain(name);
    await shows(NAMES.slice(0, 20));
    expect([sent, complaints]).toEqual([[], []]);
  });

  browserTest('further pages, filters, and the quota', async () => {
    await page.getByRole('button', { name: 'More' }).click();
    await shows(NAMES);
    await page.getByText(/^\d+ of 60 requests left until/).waitFor();
    await page.getByLabel('Search').fill('pet 03');
    await shows(['Pet 03']);
    await page.getByLabel('Search').fill('');
    await shows(NAMES.slice(0, 20));
    await page.getByRole('button', { name: 'More' }).click();
    await shows(NAMES);
  });

  browserTest('errors of a form at its fields; a new pet in the list', async () => {
    await page.getByRole('button', { name: 'Add' }).click();
    await until(async () => (await alerts()).length === 2);
    expect(await page.locator('label:has-text("Name") + [role=alert]').textContent()).toBe('must not be empty');
    expect(await page.locator('label:has-text("Category") + [role=alert]').textContent()).toMatch(/must be an integer/);
    await page.getByLabel('Name').fill('Luna');
    await page.getByLabel('Category').fill('99');
    await page.getByRole('button', { name: 'Add' }).click();
    await until(async () => String(await alerts()).includes('Category 99 does not exist'));
    await page.getByLabel('Category').fill('1');
    await page.getByRole('button', { name: 'Add' }).click();
    await shows([...NAMES, 'Luna']);
    expect(await alerts()).toEqual([]);
    expect(await page.getByLabel('Name').inputValue()).toBe('');
  });

  browserTest('changes are shown at once, and taken back if they fail', async () => {
    let release = () => {};
    await page.route('**/writes', async (route) => {
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      await route.continue();
    });
    await row('Pet 01').getByRole('button', { name: 'Sell' }).click();
    await row('Pet 01 (sold)').waitFor({ timeout: 2000 });
    release();
    await sleep(500);
    await row('Pet 01 (sold)').waitFor();
    // This pet has an order.
    await row('Pet 02').getByRole('button', { name: 'Delete' }).click();
    await shows([...NAMES.filter((name) => name !== 'Pet 02'), 'Luna'], 2);
    release();
    await shows([...NAMES, 'Luna']);
    expect(await alerts()).toEqual([expect.stringContaining('orders')]);
    await row('Pet 03').getByRole('button', { name: 'Delete' }).click();
    await shows([...NAMES.filter((name) => name !== 'Pet 03'), 'Luna'], 2);
    release();
    await sleep(1000);
    await shows([...NAMES.filter((name) => name !== 'Pet 03'), 'Luna']);
    await page.unroute('**/writes');
  });

  browserTest('live updates of other callers, including updates in a filtered list', async () => {
    await page.getByLabel('Available only').check();
    await until(async () => !(await rows()).includes('Pet 01'));
    const before = sent.length;
    await update(4, 'name: "Max"');
    await row('Max').waitFor();
    await update(4, 'status: sold');
    await until(async () => !(await rows()).includes('Max'));
    await update(4, 'status: available, name: "Pet 04"');
    await row('Pet 04').waitFor();
    if (client === 'apollo') expect(sent.slice(before)).toEqual([]);
    await page.getByLabel('Available only').uncheck();
    await row('Pet 01').waitFor();
  });

  browserTest('live updates go on after a restart of ten seconds, and what was missed is read again', async () => {
    await gateway.stop();
    await sleep(10_000);
    gateway = await installation.start({ PORT: port });
    // The page is not connected yet.
    await update(1, 'name: "Missed"');
    await row('Missed').waitFor({ timeout: 60_000 });
    await subscribed();
    await update(1, 'name: "Live"');
    await row('Live').waitFor();
  });
});
