import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Browser } from 'playwright-core';
import { PROJECT } from '../helper/command';
import { emptyDatabase } from '../helper/database';
import { ADMIN_KEY, type Gateway, startGateway } from '../helper/gateway';
import { browserTest, launchBrowser, openPage } from '../portal/browser';
import { bundle } from './browser-page';

const run = promisify(execFile);

let gateway: Gateway;
let url: string;
let directory: string;
let typeErrors: string;
let browser: Browser | undefined;
beforeAll(async () => {
  gateway = await startGateway({});
  url = await gateway.listen();
  const cache = join(PROJECT, 'node_modules', '.cache');
  mkdirSync(cache, { recursive: true });
  directory = mkdtempSync(join(cache, 'generated-'));
  cpSync(join(__dirname, 'generated-clients'), directory, { recursive: true });
  writeFileSync(join(directory, 'openapi.json'), await (await fetch(`${url}/openapi.json`)).text());
  const { stdout } = await run(process.execPath, [join(__dirname, 'generate-clients.mjs'), directory]);
  typeErrors = stdout;
});
beforeEach(async () => {
  await emptyDatabase(gateway.database);
  await gateway.data('mutation { createCategory(input: { name: "Dogs" }) { id } }');
});
afterAll(async () => {
  await browser?.close();
  rmSync(directory, { recursive: true, force: true });
  await gateway.close();
});

test('clients of three generators compile', () => {
  expect(typeErrors).toBe('');
});

const OUTCOME = {
  created: ['available', 'sold'],
  pages: [['Tom'], ['Luna']],
  ordered: { petId: expect.any(Number), quantity: 2 },
  errors: [
    ['BAD_USER_INPUT', ['name']],
    ['NOT_FOUND', 404],
  ],
};
const CLIENTS = ['hey-api', 'swagger', 'openapi-fetch'];

/** A script that calls the client, and makes its `run` available as `restClient.run`. */
async function scriptOf(name: string, platform: 'browser' | 'node'): Promise<string> {
  const entry = join(directory, `${name}-${platform}.ts`);
  writeFileSync(
    entry,
    `import { run } from './${name}-client';\nObject.assign(globalThis, { restClient: { run } });\n`,
  );
  return bundle(entry, platform);
}

browserTest.each(CLIENTS)('%s works in a page of the gateway without a base URL', async (name) => {
  browser ??= await launchBrowser();
  const { page, outside } = await openPage(browser, url);
  await page.route(`${url}/shop/page`, (route) => route.fulfill({ contentType: 'text/html', body: '<!doctype html>' }));
  await page.goto(`${url}/shop/page`);
  await page.evaluate(await scriptOf(name, 'browser'));
  expect(await page.evaluate(`restClient.run('${ADMIN_KEY}')`)).toEqual(OUTCOME);
  expect(outside).toEqual([]);
  await page.context().close();
});

test.each(CLIENTS)('%s works in Node with a base URL', async (name) => {
  const file = join(directory, `${name}.cjs`);
  const call = `restClient.run('${ADMIN_KEY}', '${url}').then((outcome) => console.log(JSON.stringify(outcome)));`;
  writeFileSync(file, `${await scriptOf(name, 'node')}\n${call}`);
  const { stdout } = await run(process.execPath, [file]);
  expect(JSON.parse(stdout)).toEqual(OUTCOME);
});
