import type { Gateway } from '../helper/gateway';
import { running, socketClient } from '../helper/live';
import { until } from '../helper/until';
import { ANONYMOUS, type Answer, ask, type Headers, type Options } from '../http/client';
import { bearer, startWithProvider } from './identity-provider';

let gateway: Gateway;
let stop: () => Promise<void>;
let ids: Record<'ann' | 'ben' | 'shop', string>;
let pet: string;
const callers = new Map<string, Headers>();

const send = (who: string, on: string, options: Options = {}): Promise<Answer> =>
  ask(gateway, on, { headers: callers.get(who), ...options });
const place = async (who: string) =>
  String(
    (await send(who, `mutation { placeOrder(input: { petId: ${pet}, quantity: 1 }) { id } }`)).json.data?.placeOrder
      ?.id,
  );

beforeAll(async () => {
  const environment = { JWT_SCOPE_CLAIM: 'role', JWT_PLAN: 'business', ANONYMOUS_ACCESS: 'write' };
  const { provider, ...started } = await startWithProvider(environment);
  ({ gateway, stop } = started);
  for (const [name, claims] of Object.entries({ ann: {}, ben: {}, staff: { role: 'write' } }))
    callers.set(name, bearer(await provider.sign({ sub: name, ...claims })));
  callers.set('anonymous', ANONYMOUS);
  const plan = { plan: 'BUSINESS' };
  callers.set('reading key', (await gateway.createKey({ scopes: ['READ'], ...plan })).headers);
  callers.set('writing key', (await gateway.createKey({ scopes: ['WRITE'], ...plan })).headers);
  const { createCategory } = await gateway.data('mutation { createCategory(input: { name: "Dogs" }) { id } }');
  const { createPet } = await gateway.data(
    `mutation { createPet(input: { name: "Rex", categoryId: ${createCategory?.id} }) { id } }`,
  );
  pet = String(createPet?.id);
  ids = { ann: await place('ann'), ben: await place('ben'), shop: await place('writing key') };
});
afterAll(() => stop());

/** The callers, with the orders that they see. */
const SEES: readonly (readonly [who: string, orders: readonly ('ann' | 'ben' | 'shop')[]])[] = [
  ['ann', ['ann']],
  ['ben', ['ben']],
  ['staff', ['ann', 'ben', 'shop']],
  ['writing key', ['ann', 'ben', 'shop']],
  ['reading key', ['shop']],
  ['anonymous', ['shop']],
];

const nodeId = (id: string) => Buffer.from(`Order:${id}`).toString('base64url');

test.each(SEES)('%s sees its orders alone, however they are read', async (who, names) => {
  const seen = names.map((name) => ids[name]);
  const isSeen = (id: string) => seen.includes(id);
  const data = async (query: string) => (await send(who, query)).json.data;
  const all = Object.values(ids);
  expect(await data('{ orders { totalCount nodes { id } } }')).toEqual({
    orders: { totalCount: seen.length, nodes: seen.map((id) => ({ id })) },
  });
  expect(await data(`{ pet(id: ${pet}) { orders { totalCount nodes { id } } } }`)).toEqual({
    pet: { orders: { totalCount: seen.length, nodes: seen.map((id) => ({ id })) } },
  });
  expect(await data('{ pets { nodes { orders(orderBy: { field: SHIP_DATE }) { edges { node { id } } } } } }')).toEqual({
    pets: { nodes: [{ orders: { edges: seen.map((id) => ({ node: { id } })) } }] },
  });
  const alias = all.map((id) => `a${id}: order(id: ${id}) { id } n${id}: node(id: "${nodeId(id)}") { nodeId }`);
  expect(await data(`{ ${alias.join(' ')} }`)).toEqual(
    Object.fromEntries(
      all.flatMap((id) => [
        [`a${id}`, isSeen(id) ? { id } : null],
        [`n${id}`, isSeen(id) ? { nodeId: nodeId(id) } : null],
      ]),
    ),
  );
  expect(await data(`{ nodes(ids: ${JSON.stringify(all.map(nodeId))}) { nodeId } }`)).toEqual({
    nodes: all.map((id) => (isSeen(id) ? { nodeId: nodeId(id) } : null)),
  });
  const listed = await send(who, 'GET /store/orders');
  expect((listed.json as unknown as { id: number }[]).map(({ id }) => String(id))).toEqual(seen);
  for (const id of all) {
    const { status, code, headers } = await send(who, `GET /store/orders/${id}`);
    expect([status, code]).toEqual(isSeen(id) ? [200, undefined] : [404, 'NOT_FOUND']);
    expect(headers.etag !== undefined).toBe(isSeen(id));
  }
});

test.each(SEES.filter(([who]) => who !== 'reading key'))(
  '%s cannot change orders that it does not see',
  async (who, names) => {
    for (const [name, id] of Object.entries(ids)) {
      if (names.includes(name as 'ann')) continue;
      const refused = { code: 'NOT_FOUND', message: `Order ${id} does not exist.` };
      for (const text of [
        `mutation { updateOrder(id: ${id}, input: { quantity: 5 }) { id } }`,
        `mutation { updateOrder(id: ${id}, input: { quantity: 5 }, ifVersion: "x") { id } }`,
        `mutation { cancelOrder(id: ${id}) { id } }`,
      ])
        expect((await send(who, text)).error).toMatchObject(refused);
      for (const on of ['PATCH', 'DELETE'])
        expect(
          await send(who, `${on} /store/orders/${id}`, on === 'PATCH' ? { body: { quantity: 5 } } : {}),
        ).toMatchObject({
          status: 404,
          code: 'NOT_FOUND',
        });
    }
    const orders = await gateway.data('{ orders { nodes { quantity } } }');
    expect(orders.orders?.nodes).toEqual([{ quantity: 1 }, { quantity: 1 }, { quantity: 1 }]);
  },
);

test('an order shows its owner, in GraphQL alone', async () => {
  const { viewer } = (await send('ann', '{ viewer { callerId } }')).json.data as never as {
    viewer: { callerId: string };
  };
  expect((await send('ann', `{ order(id: ${ids.ann}) { owner } }`)).json.data).toEqual({
    order: { owner: viewer.callerId },
  });
  expect(await gateway.data(`{ order(id: ${ids.shop}) { owner } }`)).toEqual({ order: { owner: null } });
  expect((await send('ann', `GET /store/orders/${ids.ann}`)).json).not.toHaveProperty('owner');
});

test('a subscriber gets the events of the orders that it sees', async () => {
  const url = await gateway.listen();
  const clients = SEES.map(([who]) => {
    const params = callers.get(who) ?? {};
    return { who, client: socketClient(url, params as Record<string, string>) };
  });
  const query = 'subscription { orderChanged { kind orderId order { owner } } }';
  const received = clients.map(({ who, client }) => ({ who, events: client.subscribe(query) }));
  await until(async () => (await running(gateway)) === SEES.length);
  const mine = await place('ann');
  await send('ann', `mutation { cancelOrder(id: ${mine}) { id } }`);
  const shops = await place('writing key');
  await gateway.data(`mutation { cancelOrder(id: ${shops}) { id } }`);
  const anns = [`CREATED ${mine}`, `DELETED ${mine}`];
  const ours = [`CREATED ${shops}`, `DELETED ${shops}`];
  for (const { who, events } of received) {
    const expected = [
      ...(['ann', 'staff', 'writing key'].includes(who) ? anns : []),
      ...(['ann', 'ben'].includes(who) ? [] : ours),
    ];
    await events.until(expected.length);
    expect([who, events.said]).toEqual([who, expected]);
  }
  for (const { client } of clients) client.close();
});
