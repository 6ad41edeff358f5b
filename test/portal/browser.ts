import { source as axe } from 'axe-core';
import { type Browser, chromium, type Page } from 'playwright-core';
import { findProgram } from '../helper/programs';

/** Path of Chromium, if installed. Its headless shell has the same engine, and tests of the guides take 40 % less CPU time. */
const CHROMIUM = findProgram('Chromium', [
  process.env.TEST_CHROMIUM,
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
]);

/** `test`, skipped if Chromium is not installed. */
export const browserTest = CHROMIUM ? test : test.skip;

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export function launchBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
}

/** A page, its console errors, and its requests to other servers, which are all blocked. */
export interface Observed {
  readonly page: Page;
  /** Console errors, including policy violations, and uncaught exceptions. */
  readonly complaints: string[];
  /** Requests to other servers. */
  readonly outside: string[];
}

/** Opens a page in a new profile, with everything outside `origin` blocked. */
export async function openPage(browser: Browser, origin: string, options: object = {}): Promise<Observed> {
  const page = await (await browser.newContext(options)).newPage();
  const complaints: string[] = [];
  const outside: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  await page.route(
    (url) => url.origin !== origin && url.protocol.startsWith('http'),
    (route) => {
      outside.push(route.request().url());
      return route.abort();
    },
  );
  return { page, complaints, outside };
}

/**
 * The violations of axe's accessibility rules by a page in its present colour scheme, as `rule: element`. The context of
 * the page must have `bypassCSP`, because axe itself applies inline styles.
 * @param rules the rules to check; all by default.
 */
export async function violations(page: Page, rules?: readonly string[]): Promise<string[]> {
  await page.evaluate(axe);
  const options = JSON.stringify(rules ? { runOnly: rules } : {});
  return page.evaluate(`axe.run(${options}).then(({ violations }) =>
    violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html.slice(0, 200))))`);
}
