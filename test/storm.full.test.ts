import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDatabase, TEST_DATABASE_URL } from './helper/database';
import { ADMIN_KEY } from './helper/gateway';
import { GatewayProcess } from './helper/process';
import { environmentOf, makeAdminKey, TEST_REDIS_URL } from './helper/production';
import { HEADERS } from './helper/traffic';
import { until } from './helper/until';

const STOCK = 100_000;
const CLIENTS = 8;
const KILLS = 3;
/** Writes acknowledged before each kill. */
const WRITES = 60;

/** The units each order may hold, 0 if cancelled; more than one value after a request without a response. */
type Possible = ReadonlySet<number>;

/** Places, changes and cancels orders one after the other, and remembers the responses. */
class Client {
  readonly orders = new Map<number, Possible>();
  acknowledged = 0;

  constructor(private readonly url: () => string) {}

  /** Continues until a request gets no response. */
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
    const answer =
      to === 0
        ? await this.send('DELETE', `/store/orders/${id}`)
        : await this.send('PATCH', `/store/orders/${id}`, { quantity: to });
    if (answer) this.orders.set(id, new Set([to]));
    return answer !== undefined;
  }

  /** @returns `undefined` if there was no response. */
  private async send(method: string, path: string, body?: object): Promise<{ id: number } | undefined> {
    let answer: { status: number; text: string };
    try {
      const headers = body ? HEADERS : { 'x-api-key': ADMIN_KEY };
      const response = await fetch(this.url() + path, {
        method,
        headers,
        body: body && JSON.stringify(body),
      });
      answer = { status: response.status, text: await response.text() };
    } catch {
      return undefined;
    }
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    this.acknowledged += 1;
    return answer.text ? JSON.parse(answer.text) : { id: 0 };
  }
}

/** Every order with its units, and the units in stock. */
async function stateOf(gateway: GatewayProcess): Promise<{ orders: Map<number, number>; stock: number }> {
  const orders = new Map<number, number>();
  for (let after: string | null = null; ; ) {
    const query = `{ orders(first: 100, after: ${JSON.stringify(after)}) { nodes { id quantity } pageInfo { hasNextPage endCursor } } inventoryItem(petId: 1) { quantity } }`;
    const { data } = (await gateway.graphql(query, { 'x-api-key': ADMIN_KEY })) as { data: State };
    for (const { id, quantity } of data.orders.nodes) orders.set(Number(id), quantity);
    if (!data.orders.pageInfo.hasNextPage) return { orders, stock: data.inventoryItem.quantity };
    after = data.orders.pageInfo.endCursor;
  }
}

interface State {
  orders: {
    nodes: { id: string; quantity: number }[];
    pageInfo: { hasNextPage: boolean; endCursor: string };
  };
  inventoryItem: { quantity: number };
}

test('repeated kill -9 during a storm of writes: every acknowledged write is there, and no order without its stock', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'storm-'));
  const server = TEST_DATABASE_URL ? await createDatabase() : undefined;
  if (server) await makeAdminKey(server.database);
  const environment = server
    ? { ...environmentOf(server.url ?? '', TEST_REDIS_URL), ...(TEST_REDIS_URL && { WEB_CONCURRENCY: '2' }) }
    : { ...environmentOf(''), DATA_DIR: directory };
  let gateway = await GatewayProcess.start(environment);
  const set = (path: string, body: object, method = 'POST') =>
    fetch(gateway.url + path, { method, headers: HEADERS, body: JSON.stringify(body) });
  try {
    await set('/categories', { name: 'Dogs' });
    await set('/pets', { name: 'Rex', categoryId: 1 });
    await set('/store/inventory/1', { quantity: STOCK }, 'PUT');

    const clients = Array.from({ length: CLIENTS }, () => new Client(() => gateway.url));
    const acknowledged = () => clients.reduce((sum, client) => sum + client.acknowledged, 0);
    for (let kill = 1; kill <= KILLS; kill++) {
      const before = acknowledged();
      let unanswered = 0;
      const ends = Promise.all(clients.map((client) => client.run().then(() => ++unanswered)));
      await Promise.race([ends, until(async () => acknowledged() >= before + WRITES, 30)]);
      expect(unanswered).toBe(0);
      const ending = await gateway.stopAll('SIGKILL');
      await ends;
      expect(acknowledged() - before).toBeGreaterThanOrEqual(WRITES);
      expect(ending).toMatchObject({ code: null, signal: 'SIGKILL', stderr: '' });
      gateway = await GatewayProcess.start(environment);

      const { orders, stock } = await stateOf(gateway);
      const told = new Map(clients.flatMap((client) => [...client.orders]));
      const lost = [...told].filter(([id, possible]) => !possible.has(orders.get(id) ?? 0));
      expect(lost).toEqual([]);
      // Each client may have one order whose response was lost.
      const untold = [...orders.keys()].filter((id) => !told.has(id));
      expect(untold.length).toBeLessThanOrEqual(CLIENTS * kill);
      const reserved = [...orders.values()].reduce((sum, quantity) => sum + quantity, 0);
      expect(stock + reserved).toBe(STOCK);
    }
  } finally {
    await gateway.stopAll('SIGKILL');
    await server?.drop();
    await rm(directory, { recursive: true, force: true });
  }
});
