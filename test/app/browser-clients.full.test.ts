import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import { freePort } from '../helper/free-port';
import { ADMIN_KEY, type Json } from '../helper/gateway';
import { Installation } from '../helper/installation';
import type { GatewayProcess } from '../helper/process';
import { until } from '../helper/until';
import { browserTest, launchBrowser } from '../portal/browser';
import { bundle, PageServer } from './browser-page';

/**
 * Clients with their default options, in Chromium, on a page of another origin than the gateway, which runs as a separate
 * process. The clients are in `clients/in-browser.ts`.
 */

const CLIENTS = ['apollo', 'urql', 'relay', 'graphql-ws', 'graphql-sse', 'EventSource', 'fetch'];
const WITH_KEYS = CLIENTS.filter((name) => name !== 'EventSource');
const LIVE = CLIENTS.filter((name) => name !== 'fetch');
const REX = { pets: { nodes: [{ id: '1', name: 'Rex' }] } };

const installation = new Installation({ ADMIN_API_KEY: ADMIN_KEY, BAN_AFTER: '5' });
let server: PageServer;
let browser: Browser;
let gateway: GatewayProcess;
let page: Page;
let port: string;
beforeAll(async () => {
  server = await PageServer.start(await bundle(join(__dirname, 'clients', 'in-browser.ts')));
  browser = await launchBrowser();
});
beforeEach(async () => {
  port = String(await freePort());
  gateway = await installation.start({ PORT: port });
  await createShop();
  page = await (await browser.newContext()).newPage();
  await page.goto(server.url);
});
afterEach(async () => {
  await page.context().close();
  await gateway.stop('SIGKILL');
});
afterAll(async () => {
  await browser?.close();
  server?.close();
  installation.remove();
});

const run = (kind: string, name: string, key?: string) =>
  page.evaluate(`clients.${kind}('${name}', '${gateway.url}'${key ? `, '${key}'` : ''})`) as Promise<Json>;
const received = () =>
  page.evaluate('clients.received') as Promise<Record<string, { events: Json[]; over: unknown[] }>>;
const asAdmin = async (query: string) => {
  const { errors } = await gateway.graphql<{ errors?: unknown }>(query, { 'x-api-key': ADMIN_KEY });
  expect(errors).toBeUndefined();
};
const rename = (name: string) => asAdmin(`mutation { updatePet(id: 1, input: { name: "${name}" }) { id } }`);

/** Makes sure that the first pet is Rex. */
async function createShop(): Promise<void> {
  const { data } = await gateway.graphql<{ data: { pet: unknown } }>('{ pet(id: 1) { id } }', {
    'x-api-key': ADMIN_KEY,
  });
  if (data.pet) return rename('Rex');
  await asAdmin(
    'mutation { createCategory(input: { name: "Dogs" }) { id } createPet(input: { name: "Rex", categoryId: 1 }) { id } }',
  );
}

/** Waits until all clients have got an event with this name of the pet. */
async function untilAllGot(name: string, clients = LIVE, seconds = 15): Promise<void> {
  const got = async () => {
    const all = await received();
    return clients.filter((client) => JSON.stringify(all[client]?.events).includes(`"${name}"`));
  };
  await until(async () => (await got()).length === clients.length, seconds).catch(async () => {
    throw new Error(`Only ${await got()} have got ${name}: ${JSON.stringify(await received())}`);
  });
}

/** Subscribes with all clients, and waits until the subscriptions run. */
async function subscribeAll(keyOf: (client: string) => string | undefined, clients = LIVE): Promise<void> {
  for (const client of clients) await run('subscribe', client, keyOf(client));
  await until(
    async () => /^petstore_subscriptions (\d+)$/m.exec(await gateway.metrics())?.[1] === String(clients.length),
  );
}

browserTest('clients without a key read, get events, and are told that they may not write', async () => {
  for (const client of CLIENTS) expect([client, await run('query', client)]).toEqual([client, { data: matching(REX) }]);
  // graphql-sse tries again for half a minute, and does not tell the code.
  for (const client of WITH_KEYS.filter((name) => name !== 'graphql-sse'))
    expect([client, await run('mutate', client)]).toEqual([client, { codes: ['UNAUTHENTICATED'] }]);
  await subscribeAll(() => undefined);
  await rename('Max');
  await untilAllGot('Max');
});

browserTest('clients of streams and WebSockets are told at once what is wrong with a document', async () => {
  for (const [document, code] of [
    ['subscription { colours }', 'GRAPHQL_VALIDATION_FAILED'],
    ['{', 'GRAPHQL_PARSE_FAILED'],
  ]) {
    for (const client of ['graphql-ws', 'graphql-sse', 'EventSource']) {
      const start = performance.now();
      const told = await page.evaluate(`clients.ask('${client}', '${gateway.url}', '${document}')`);
      expect([client, told]).toEqual([client, { codes: [code] }]);
      // graphql-sse repeats a request that is rejected by its HTTP status, for half a minute.
      expect(performance.now() - start).toBeLessThan(5000);
    }
  }
});

browserTest('clients with a key read, write and get events', async () => {
  for (const client of WITH_KEYS) {
    expect([client, await run('query', client, ADMIN_KEY)]).toEqual([client, { data: matching(REX) }]);
    const changed = { updatePet: { id: '1', status: 'pending' } };
    expect([client, await run('mutate', client, ADMIN_KEY)]).toEqual([client, { data: matching(changed) }]);
  }
  await subscribeAll((client) => (client === 'EventSource' ? undefined : ADMIN_KEY));
  await rename('Max');
  await untilAllGot('Max');
});

/** Uses up the quota of the address, or also gets it banned. */
async function useUp(isBanned: boolean): Promise<void> {
  const code = async () => ((await (await fetch(`${gateway.url}/pets`)).json()) as { code?: string }).code;
  while ((await code()) !== (isBanned ? 'KEY_BANNED' : 'RATE_LIMITED'));
}

browserTest.each([
  [true, 'KEY_BANNED'],
  [false, 'RATE_LIMITED'],
])(
  'clients with a key work after the address is banned (%s) or out of quota; others are told',
  async (isBanned, code) => {
    await useUp(isBanned);
    for (const client of WITH_KEYS) {
      expect([client, await run('query', client, ADMIN_KEY)]).toEqual([client, { data: matching(REX) }]);
      if (client === 'graphql-sse') continue;
      expect([client, await run('query', client)]).toEqual([client, { codes: [code] }]);
      if (!isBanned) break;
    }
    const withKeys = LIVE.filter((client) => client !== 'EventSource');
    await subscribeAll(() => ADMIN_KEY, withKeys);
    await rename('Max');
    await untilAllGot('Max', withKeys);
  },
);

browserTest('live updates and requests go on after a restart that takes ten seconds', async () => {
  const clients = ['graphql-sse', 'EventSource'];
  await subscribeAll(() => undefined, clients);
  await rename('Before');
  await untilAllGot('Before', clients);
  await gateway.stop();
  await sleep(10_000);
  gateway = await installation.start({ PORT: port });
  await until(async () => /^petstore_subscriptions 2$/m.test(await gateway.metrics()), 60);
  await rename('After');
  await untilAllGot('After', clients);
  for (const client of CLIENTS)
    expect(await run('query', client)).toMatchObject({ data: { pets: { nodes: [{ name: 'After' }] } } });
});

/** Matches data to which clients have added `__typename`. */
function matching(data: unknown): unknown {
  if (Array.isArray(data)) return data.map(matching);
  if (typeof data !== 'object' || data === null) return data;
  return expect.objectContaining(
    Object.fromEntries(Object.entries(data).map(([name, value]) => [name, matching(value)])),
  );
}
