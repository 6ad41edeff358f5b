import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { statement } from '../../src/database/statement';
import { fillShop } from '../helper/database';
import { ADMIN_KEY, type Gateway, startGateway } from '../helper/gateway';
import { running } from '../helper/live';
import { PROXIES, RunningProxy } from '../helper/proxies';
import { until } from '../helper/until';
import { browserTest, launchBrowser } from '../portal/browser';
import { bundle, PageServer } from './browser-page';

/** The consumers of docs/live-events.md in Chromium, on a page of another origin. */

interface Consumed {
  readonly loads: number;
  readonly events: readonly { topic: string; kind: string; objectId: string }[];
  readonly error?: string;
}

let gateway: Gateway;
let direct: string;
let browser: Browser;
beforeAll(async () => {
  gateway = await startGateway({});
  direct = await gateway.listen();
  browser = await launchBrowser();
});
beforeEach(() => fillShop(gateway.database));
afterAll(async () => {
  await browser?.close();
  await gateway.close();
});

const sql = (text: string) => gateway.database.serviceSession().query(statement(text), []);
const rename = (...ids: number[]) =>
  gateway.data(`mutation { ${ids.map((id, i) => `a${i}: updatePet(id: ${id}, input: { name: "Max" }) { id }`)} }`);
const untilRunning = (count: number) => until(async () => (await running(gateway)) === count, 30);
/** Ends all connections, as a restart or a proxy does. */
const disconnect = () => gateway.server.server.closeAllConnections();

const nginx = PROXIES.find(({ name }) => name === 'nginx');
const maybe = nginx?.binary ? describe : describe.skip;
maybe.each([['directly'], ["behind nginx with its beginner's configuration"]])('%s', (how) => {
  let proxy: RunningProxy | undefined;
  let server: PageServer;
  let page: Page;
  let url: string;
  beforeAll(async () => {
    if (how !== 'directly' && nginx) proxy = await RunningProxy.start(nginx, nginx.minimal, direct);
    url = proxy?.url ?? direct;
    const script = await bundle(join(__dirname, 'clients', 'feed.ts'), 'browser', {
      environment: { PETSTORE_URL: url },
    });
    server = await PageServer.start(script);
  });
  beforeEach(async () => {
    page = await (await browser.newContext()).newPage();
    await page.goto(server.url);
  });
  afterEach(async () => {
    await page.context().close();
    disconnect();
    await untilRunning(0);
  });
  afterAll(async () => {
    server.close();
    await proxy?.close();
  });

  /** Starts a consumer without a key, which uses EventSource, and one with a key, which uses `fetch`. */
  const consume = () => page.evaluate(`globalThis.all = [consume(), consume('${ADMIN_KEY}')]; undefined`);
  const consumed = () => page.evaluate('globalThis.all') as Promise<Consumed[]>;
  /** What each consumer has received, in short: `1 2 3`. */
  const untilBoth = async (loads: number, ids: string) => {
    const said = async () =>
      (await consumed()).map(
        ({ loads, events, error }) => `${loads}: ${events.map((event) => event.objectId).join(' ')} ${error ?? ''}`,
      );
    await until(async () => (await said()).every((text) => text === `${loads}: ${ids} `), 30).catch(async () => {
      throw new Error(`The consumers have ${JSON.stringify(await said())}, not ${loads}: ${ids}`);
    });
  };

  browserTest(
    'a consumer gets each change once, even if connections are lost',
    async () => {
      await consume();
      await untilRunning(2);
      await rename(1, 2);
      await untilBoth(1, '1 2');
      disconnect();
      await rename(3);
      await untilBoth(1, '1 2 3');
      await untilRunning(2);
      await rename(1);
      await untilBoth(1, '1 2 3 1');
    },
    90_000,
  );

  browserTest(
    'a consumer loads the data again when the events after its cursor are gone',
    async () => {
      await consume();
      await untilRunning(2);
      await rename(1);
      await untilBoth(1, '1');
      await sql(`update last_event set id = id + 1000, at = now()`);
      await sql('delete from events');
      disconnect();
      await until(async () => (await consumed()).every(({ loads }) => loads === 2), 30);
      await untilRunning(2);
      await rename(2);
      await untilBoth(2, '1 2');
    },
    90_000,
  );

  browserTest(
    'EventSource resumes at the cursor of the last comment',
    async () => {
      await page.evaluate(`globalThis.ids = []; globalThis.source = new EventSource('${url}/events?cursor=now');
      source.onmessage = ({ data }) => ids.push(JSON.parse(data).objectId)`);
      await untilRunning(1);
      disconnect();
      await rename(3);
      await until(async () => String(await page.evaluate('ids.join()')) === '3', 30);
      expect(await page.evaluate('source.readyState')).toBe(1);
    },
    90_000,
  );
});
