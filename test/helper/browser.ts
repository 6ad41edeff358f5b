import { existsSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';

/** Where Chromium is, if it is on this machine. */
const CHROMIUM = [process.env.TEST_CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser'].find(
  (path) => path && existsSync(path),
);

/** `test`, left out where there is no Chromium. */
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

/** What went wrong in a page, and what it asked of other servers, which are all out of its reach. */
export interface Observed {
  readonly page: Page;
  /** Errors of its console, breaches of its policy among them, and exceptions that nobody caught. */
  readonly complaints: string[];
  /** Requests to other servers. */
  readonly outside: string[];
}

/** A page of a new profile, with everything outside of `origin` out of reach. */
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
