import type { Installation } from './installation';
import { Load } from './load';
import type { GatewayProcess } from './process';
import { HEADERS, isServed, madeCategories, mixed } from './traffic';
import { until } from './until';

const CLIENTS = 12;

/** Stops a gateway under load by SIGTERM, and expects that neither a request nor an acknowledged write is lost. */
export async function expectNoLossAt(delayMs: number, installation: Installation): Promise<void> {
  const gateway = await installation.start({ SHUTDOWN_DELAY_MS: String(delayMs) });
  const load = new Load(gateway.url, CLIENTS, mixed);
  await until(async () => load.tried.length > 100, 30);
  const before = load.tried.length;
  const signalled = performance.now();
  expect(await gateway.stop('SIGTERM')).toMatchObject({ code: 0, signal: null, stderr: '' });
  expect(performance.now() - signalled).toBeGreaterThan(delayMs);
  expect(performance.now() - signalled).toBeLessThan(8000);
  const tried = await load.stop();
  expect(tried.length).toBeGreaterThan(before);
  // A client that finds the port closed was never accepted; each sees that once, and then stops.
  const failed = tried.filter((one) => !isServed(one) && one.error !== 'ECONNREFUSED');
  expect(failed).toEqual([]);
  const last = tried.filter(({ connection }) => connection === 'close');
  expect(last.length).toBeGreaterThan(0);

  const acknowledged = madeCategories(tried);
  expect(acknowledged.length).toBeGreaterThan(10);
  expect(await categoriesOf(await installation.start())).toEqual(expect.arrayContaining(acknowledged));
}

interface Categories {
  data: { categories: { nodes: { id: string }[]; pageInfo: { hasNextPage: boolean; endCursor: string } } };
}

/** The ids of all categories, page by page. */
async function categoriesOf(gateway: GatewayProcess): Promise<string[]> {
  const ids: string[] = [];
  for (let after = ''; ; ) {
    const query = `{ categories(first: 100${after}) { nodes { id } pageInfo { hasNextPage endCursor } } }`;
    const { nodes, pageInfo } = (await gateway.graphql<Categories>(query, HEADERS)).data.categories;
    ids.push(...nodes.map(({ id }) => id));
    if (!pageInfo.hasNextPage) return ids;
    after = `, after: "${pageInfo.endCursor}"`;
  }
}
