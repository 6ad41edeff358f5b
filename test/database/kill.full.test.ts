import { ADMIN_KEY } from '../helper/gateway';
import { Installation } from '../helper/installation';
import { ask } from '../helper/load';
import { GatewayProcess } from '../helper/process';
import { createProduction, environmentOf, TEST_DATABASE_URL, TEST_REDIS_URL } from '../helper/production';
import { HEADERS } from '../helper/traffic';
import { until } from '../helper/until';

const STOCK = 100_000;
const CLIENTS = 8;
const KILLS = 3;
/** Number of acknowledged writes before each kill. */
const WRITES = 60;

/**
 * The quantities that an order may have. 0 means that the order was cancelled. If a request got no response, the order
 * may have the old or the new quantity.
 */
type Possible = ReadonlySet<number>;

/** Places, changes and cancels orders, one request after the other, and records the acknowledged state of each order. */
class Client {
  readonly orders = new Map<number, Possible>();
  acknowledged = 0;

  constructor(private readonly url: () => string) {}

  /** Sends requests until a request gets no response. */
  async run(): Promise<void> {
    for (let i = 0; ; i++) {
      const quantity = 1 + (i % 5);
      const placed = await this.send('POST', '/store/orders', { petId: 1, quantity });
      if (!placed) return;
      const { id } = placed;
      this.orders.set(id, new Set([quantity]));
      if (i % 2 && !(await this.change(id, quantity, quantity + 3))) return;
      const last = i % 2 ? quantity + 3 : quantity;
      if (i % 3 === 0 && !(await this.change(id, last, 0))) return;
    }
  }

  private async change(id: number, from: number, to: number): Promise<boolean> {
    this.orders.set(id, new Set([from, to]));
    const path = `/store/orders/${id}`;
    const answer = to ? await this.send('PATCH', path, { quantity: to }) : await this.send('DELETE', path);
    if (answer) this.orders.set(id, new Set([to]));
    return answer !== undefined;
  }

  /** @returns `undefined` if there was no response. */
  private async send(method: string, path: string, value?: object): Promise<{ id: number } | undefined> {
    const headers = value ? HEADERS : { 'x-api-key': ADMIN_KEY };
    const { status, body } = await ask(this.url(), { method, path, headers, body: JSON.stringify(value) });
    if (!status) return undefined;
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${body}`);
    this.acknowledged += 1;
    return body ? JSON.parse(body) : { id: 0 };
  }
}

interface State {
  orders: { nodes: { id: string; quantity: number }[]; pageInfo: { hasNextPage: boolean; endCursor: string } };
  inventoryItem: { quantity: number };
}

/** @returns the quantity of every order by its id, and the units in stock. */
async function stateOf(gateway: GatewayProcess): Promise<{ orders: Map<number, number>; stock: number }> {
  const orders = new Map<number, number>();
  for (let after: string | null = null; ; ) {
    const query: string = `{ orders(first: 100, after: ${JSON.stringify(after)}) { nodes { id quantity } pageInfo { hasNextPage endCursor } }
      inventoryItem(petId: 1) { quantity } }`;
    const { data } = await gateway.graphql<{ data: State }>(query, HEADERS);
    for (const { id, quantity } of data.orders.nodes) orders.set(Number(id), quantity);
    if (!data.orders.pageInfo.hasNextPage) return { orders, stock: data.inventoryItem.quantity };
    after = data.orders.pageInfo.endCursor;
  }
}

interface Place {
  readonly environment: Record<string, string>;
  remove(): Promise<void>;
}

async function embedded(): Promise<Place> {
  const installation = new Installation({});
  return {
    environment: { ...environmentOf(''), DATA_DIR: installation.data },
    remove: () => installation.remove(),
  };
}

async function onServers(): Promise<Place> {
  const { environment, drop } = await createProduction();
  return { environment: { ...environment, WEB_CONCURRENCY: TEST_REDIS_URL ? '2' : '1' }, remove: drop };
}

describe('after kill -9 under load, every acknowledged write is kept, and orders and stock are consistent', () => {
  const places: [string, () => Promise<Place>][] = [['on the embedded database', embedded]];
  if (TEST_DATABASE_URL) places.push(['on PostgreSQL, with two workers', onServers]);

  test.each(places)('%s', async (_where, create) => {
    const { environment, remove } = await create();
    let gateway = await GatewayProcess.start(environment);
    const set = (method: string, path: string, value: object) =>
      ask(gateway.url, { method, path, headers: HEADERS, body: JSON.stringify(value) });
    try {
      await set('POST', '/categories', { name: 'Dogs' });
      await set('POST', '/pets', { name: 'Rex', categoryId: 1 });
      await set('PUT', '/store/inventory/1', { quantity: STOCK });

      const clients = Array.from({ length: CLIENTS }, () => new Client(() => gateway.url));
      const acknowledged = () => clients.reduce((sum, client) => sum + client.acknowledged, 0);
      for (let kill = 1; kill <= KILLS; kill++) {
        const before = acknowledged();
        let unanswered = 0;
        const ends = Promise.all(clients.map((client) => client.run().then(() => ++unanswered)));
        await Promise.race([ends, until(() => acknowledged() >= before + WRITES, 30)]);
        expect(unanswered).toBe(0);
        expect(await gateway.stopAll('SIGKILL')).toMatchObject({ code: null, signal: 'SIGKILL', stderr: '' });
        await ends;
        gateway = await GatewayProcess.start(environment);

        const { orders, stock } = await stateOf(gateway);
        const told = new Map(clients.flatMap((client) => [...client.orders]));
        const lost = [...told].filter(([id, possible]) => !possible.has(orders.get(id) ?? 0));
        expect(lost).toEqual([]);
        // At each kill, each client may lose the response to one new order. The client then does not know this order.
        const untold = [...orders.keys()].filter((id) => !told.has(id));
        expect(untold.length).toBeLessThanOrEqual(CLIENTS * kill);
        const reserved = [...orders.values()].reduce((sum, quantity) => sum + quantity, 0);
        expect(stock + reserved).toBe(STOCK);
      }
    } finally {
      await gateway.stopAll('SIGKILL');
      await remove();
    }
  });
});
