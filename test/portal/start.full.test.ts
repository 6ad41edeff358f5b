import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { browserTest, launchBrowser, openPage, violations } from '../helper/browser';
import { type Gateway, startGateway, type TestKey } from '../helper/gateway';

let gateway: Gateway;
let url: string;
let browser: Browser;
let key: TestKey;
let directory: string;
beforeAll(async () => {
  gateway = await startGateway();
  url = await gateway.listen();
  key = await gateway.createKey({ name: 'Acme', plan: 'PRO' });
  directory = mkdtempSync(join(tmpdir(), 'snippets-'));
});
afterAll(async () => {
  await browser?.close();
  await gateway.close();
  rmSync(directory, { recursive: true });
});

const inBrowser = (name: string, run: (page: Page) => Promise<void>, options: object = {}) => {
  browserTest(name, async () => {
    browser ??= await launchBrowser();
    const { page, complaints, outside } = await openPage(browser, url, options);
    await page.goto(url);
    await run(page);
    expect([complaints, outside]).toEqual([[], []]);
    await page.context().close();
  });
};

async function giveKey(page: Page): Promise<void> {
  await page.getByLabel('API key', { exact: true }).fill(key.whole);
  await page.getByRole('button', { name: 'Use' }).click();
  await page.getByText('key “Acme”').waitFor();
}

inBrowser('the start page shows what the key has used, and nobody else’s usage', async (page) => {
  await page.getByText('Usage is kept per key').waitFor();
  for (let i = 0; i < 4; i++) await gateway.app.inject({ url: '/pets', headers: key.headers });
  await giveKey(page);
  await page.getByText('4 requests', { exact: true }).waitFor();
  expect(await page.locator('.usage-chart').getAttribute('aria-label')).toBe('Last 30 days: 4 requests');
  expect(await page.locator('.usage-chart g').count()).toBe(30);
});

const HAS_PYTHON = spawnSync('python3', ['--version']).status === 0;

/** How each language is run. */
const RUN: Record<string, (file: string) => [command: string, ...args: string[]]> = {
  curl: (file) => ['sh', file],
  JavaScript: (file) => [process.execPath, file],
  Python: (file) => ['python3', file],
};

describe('the examples of the start page run as they are', () => {
  for (const language of Object.keys(RUN).filter((each) => each !== 'Python' || HAS_PYTHON))
    for (const withKey of [false, true])
      inBrowser(`in ${language}, ${withKey ? 'with a key' : 'without one'}`, async (page) => {
        if (withKey) await giveKey(page);
        for (const [request, expected] of [
          ['GET /pets', '[]'],
          ['GraphQL: pets', 'totalCount'],
        ] as const) {
          await page.getByRole('button', { name: request, exact: true }).click();
          await page.getByRole('button', { name: language, exact: true }).click();
          const file = join(directory, `snippet${language === 'JavaScript' ? '.mjs' : ''}`);
          const text = String(await page.locator('#request').textContent());
          expect(text).not.toContain(key.whole);
          writeFileSync(file, text);
          const [command, ...args] = RUN[language]?.(file) ?? ['false'];
          const environment = { PATH: process.env.PATH, ...(withKey && { PETSTORE_API_KEY: key.whole }) };
          const { stdout } = await promisify(execFile)(command, args, { env: environment });
          expect(stdout).toContain(expected);
          if (language !== 'curl') expect(Number.parseInt(stdout, 10)).toBeGreaterThan(withKey ? 200 : 0);
        }
      });
});

inBrowser(
  'an example is copied',
  async (page) => {
    await page.getByRole('button', { name: 'Copy' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(await page.locator('#request').textContent());
  },
  { permissions: ['clipboard-read', 'clipboard-write'] },
);

describe('a malformed key is explained', () => {
  for (const [entered, reason] of [
    ['secret', 'It does not begin with “ps_”.'],
    ['ps_ypcc3ce37j11', 'Its secret is missing: this may be only the id.'],
    ['ps_ypcc3ce37j1_1Nb9X5HMAvLuV9pcW1upWEeeBMYdssmW', 'Its id has 11 characters instead of 12.'],
    ['ps_YPCC3ce37j11_1Nb9X5HMAvLuV9pcW1upWEeeBMYdssmW', 'It has characters that no key has'],
  ] as const)
    for (const path of ['/', '/graphiql'])
      inBrowser(`on ${path}: ${reason}`, async (page) => {
        await page.goto(url + path);
        await page.getByLabel('API key', { exact: true }).fill(entered);
        await page.getByRole('button', { name: 'Use' }).click();
        const note = page.getByText(reason);
        await note.waitFor();
        expect((await note.boundingBox())?.height).toBeGreaterThan(10);
      });
});

for (const colorScheme of ['light', 'dark'])
  inBrowser(
    `the start page keeps the rules of accessibility in ${colorScheme}, on a phone too`,
    async (page) => {
      await giveKey(page);
      await page.locator('.usage-chart').waitFor();
      expect(await violations(page)).toEqual([]);
      await page.setViewportSize({ width: 390, height: 844 });
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
      expect(await violations(page)).toEqual([]);
    },
    { colorScheme, bypassCSP: true },
  );
