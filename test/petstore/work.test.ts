import fc from 'fast-check';
import { parse, specifiedRules, validate } from 'graphql';
import pg from 'pg';
import { contractSchema } from '../../src/app/contract';
import { Executor } from '../../src/graphql/executor';
import type { Analysis } from '../../src/graphql/operation';
import { mutations, queries, subscriptions } from '../graphql/generated-queries';
import { runs } from '../helper/full';
import { type Gateway, startGateway } from '../helper/gateway';
import { running, type Subscriber, socketClient, streamClient } from '../helper/live';
import { until } from '../helper/until';
import { fill, worlds } from '../helper/world';

// The estimate of an operation bounds its work, whichever transport it arrives on: docs/bounds.md, "Estimated cost".

/** What a cost of 1 stands for (docs/bounds.md). */
const STATEMENT = 20;
const BYTES = 1600;

const schema = contractSchema();
const [world] = fc.sample(worlds, { numRuns: 1, seed: 7 });

let gateway: Gateway;
let clients: readonly Subscriber[];
beforeAll(async () => {
  gateway = await startGateway({ GRAPHQL_MAX_COST: '10000000', ANONYMOUS_ACCESS: 'write' });
  const url = await gateway.listen();
  const { headers } = await gateway.createKey({
    plan: 'ENTERPRISE',
    perMinute: 1_000_000,
    perDay: 10_000_000,
    scopes: ['WRITE'],
  });
  clients = [socketClient(url, headers), streamClient(url, headers)];
  observe();
});
beforeEach(async () => {
  if (world) await fill(gateway.database, world);
});
afterAll(async () => {
  jest.restoreAllMocks();
  for (const client of clients) client.close();
  await gateway.close();
});

/** The statements on the tables of the shop since the last reset. */
let statements: string[] = [];
/** The analyses and costs of the operations that have run since the last reset. */
let ran: { analysis: Analysis; cost: number }[] = [];

function observe(): void {
  const query = pg.Client.prototype.query as (...args: unknown[]) => unknown;
  jest.spyOn(pg.Client.prototype, 'query').mockImplementation(function (this: pg.Client, ...args: unknown[]) {
    const [config] = args;
    const text = typeof config === 'string' ? config : String((config as { text?: string }).text);
    // The embedded database is vacuumed from time to time, which belongs to no operation.
    if (/\b(pets|categories|orders|inventory)\b/.test(text) && !text.startsWith('vacuum')) statements.push(text);
    return query.apply(this, args);
  } as never);
  const { execute, executeEvent } = Executor.prototype as unknown as Record<string, (...args: unknown[]) => unknown>;
  const recording = (original: typeof execute) =>
    function (this: Executor, ...args: unknown[]) {
      ran.push(args[0] as (typeof ran)[number]);
      return original?.apply(this, args);
    };
  Object.assign(Executor.prototype, { execute: recording(execute), executeEvent: recording(executeEvent) });
}

function reset(): void {
  statements = [];
  ran = [];
}

/** The number of objects that are rows: they have an `id`, or were selected by one. */
function objectsIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce((sum: number, each) => sum + objectsIn(each), Array.isArray(value) ? 0 : 1);
}

function expectBounded(answer: string): void {
  const most = ran.reduce((sum, { analysis }) => sum + analysis.statements, 0);
  const cost = ran.reduce((sum, each) => sum + each.cost, 0);
  const work = { statements: statements.length, bytes: answer.length, rows: objectsIn(JSON.parse(answer || 'null')) };
  const isBounded = {
    statements: work.statements <= 2 * most,
    cost: work.statements <= (2 * cost) / STATEMENT,
    bytes: work.bytes <= 2 * BYTES * Math.max(cost, 1),
    rows: work.rows <= 2 * (cost + 3),
  };
  if (ran.length && Object.values(isBounded).includes(false))
    throw new Error(JSON.stringify({ isBounded, work, most, cost, texts: statements }));
}

const isValid = (text: string) => validate(schema, parse(text), specifiedRules).length === 0;

test('queries and mutations do at most twice the estimated work, over HTTP, WebSocket and event streams', async () => {
  let done = 0;
  const operation = fc.oneof(
    { arbitrary: queries(schema), weight: 3 },
    mutations(schema).map((text) => ({ text, variables: {} })),
  );
  const property = fc.asyncProperty(operation, fc.nat(2), async ({ text, variables }, transport) => {
    fc.pre(isValid(text));
    reset();
    const client = clients[transport];
    if (client) {
      const received = await client.subscribe(text, variables).untilOver();
      expectBounded(JSON.stringify(received.answers));
    } else {
      const payload = { query: text, variables };
      expectBounded((await gateway.app.inject({ method: 'POST', url: '/graphql', payload })).body);
    }
    done += ran.length;
  });
  await fc.assert(property, runs(100, 2500));
  expect(done).toBeGreaterThan(50);
}, 600_000);

test('events do at most twice the estimated work, over WebSocket and event streams', async () => {
  const topics = { petChanged: 'pet', orderChanged: 'order', inventoryChanged: 'inventory' } as const;
  const [socket] = clients as [Subscriber];
  const own = ['orderChanged', 'inventoryChanged'].map((field) =>
    socket.subscribe(`subscription { ${field} { kind } }`),
  );
  await until(async () => (await running(gateway)) === own.length);
  const { setInventory, placeOrder } = await gateway.data(`mutation {
    setInventory(petId: 1, input: { quantity: 5 }) { petId }
    placeOrder(input: { petId: 1 }) { id }
  }`);
  // The events of these changes would be counted below if they arrived later.
  for (const each of own) {
    await each.until(1);
    each.stop();
  }
  await until(async () => (await running(gateway)) === 0);
  const ids = { pet: '1', inventory: setInventory?.petId, order: placeOrder?.id };
  let events = 0;
  const property = fc.asyncProperty(subscriptions(schema), fc.nat(1), async (text, transport) => {
    const received = (clients[transport] as Subscriber).subscribe(text);
    try {
      await until(async () => (await running(gateway)) === 1 || received.error !== undefined);
      if (received.error !== undefined) return;
      reset();
      const [, field = ''] = /\{ (\w+)/.exec(text) ?? [];
      const topic = topics[field as keyof typeof topics];
      gateway.database.notifyListeners({ topic, kind: 'UPDATED', id: BigInt(String(ids[topic])) });
      const answers = await received.until(1);
      // The changed row is read once for all subscribers.
      statements.shift();
      expectBounded(JSON.stringify(answers));
      events += ran.length;
    } finally {
      received.stop();
      await until(async () => (await running(gateway)) === 0);
    }
  });
  await fc.assert(property, runs(30, 500));
  expect(events).toBeGreaterThan(10);
}, 600_000);

test('REST requests do at most twice the estimated work', async () => {
  const query = fc
    .record(
      {
        limit: fc.constantFrom('1', '5', '100'),
        sort: fc.constantFrom('id', '-id', 'name', 'petId', 'quantity', 'shipDate'),
        name: fc.constantFrom('e', 'Rex'),
        status: fc.constantFrom('available', 'sold'),
        petId: fc.constantFrom('1', '2'),
      },
      { requiredKeys: [] },
    )
    .map((record) => new URLSearchParams(record).toString());
  const list = fc.tuple(fc.constantFrom('/pets', '/categories', '/store/orders', '/store/inventory'), query);
  const request = fc.oneof(
    {
      arbitrary: list.map(([path, text]) => ({ method: 'GET' as const, url: `${path}?${text}`, body: {} })),
      weight: 3,
    },
    fc.constantFrom(
      ...['/pets/1', '/pets/999', '/categories/1', '/store/orders/1', '/store/inventory/1'].map((url) => ({
        method: 'GET' as const,
        url,
        body: {},
      })),
      { method: 'POST' as const, url: '/pets', body: { name: 'Mia', categoryId: 1 } },
      { method: 'PUT' as const, url: '/pets/1', body: { name: 'Max', categoryId: 1 } },
      { method: 'PATCH' as const, url: '/pets/1', body: { status: 'sold' } },
      { method: 'DELETE' as const, url: '/pets/3', body: undefined },
      { method: 'POST' as const, url: '/store/orders', body: { petId: 1, quantity: 1 } },
      { method: 'PATCH' as const, url: '/store/orders/1', body: { petId: 2 } },
      { method: 'DELETE' as const, url: '/store/orders/2', body: undefined },
      { method: 'PUT' as const, url: '/store/inventory/2', body: { quantity: 4 } },
    ),
  );
  const property = fc.asyncProperty(request, fc.boolean(), async ({ method, url, body }, hasKey) => {
    reset();
    const headers = hasKey && method !== 'GET' ? { 'idempotency-key': `k${Math.random()}` } : {};
    const options = { method, url, headers, ...(method !== 'GET' && body && { payload: body }) };
    const response = await gateway.app.inject(options);
    expectBounded(response.body);
  });
  await fc.assert(property, runs(60, 2000));
}, 600_000);
