import { Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import type { Services } from '../../src/app/domains';
import { gatewayDomains } from '../../src/app/domains';
import type { Context } from '../../src/graphql/context';
import type { CategoryRow, InventoryRow, OrderRow, PetRow } from '../../src/petstore/model';
import { Category, InventoryItem, Order, Pet, PetConnection } from '../../src/petstore/types';
import { createDatabase, fillShop } from '../helper/database';
import { type Gateway, startGateway } from '../helper/gateway';
import { running, socketClient } from '../helper/live';
import { until } from '../helper/until';
import { send } from '../rest/client';

// Every resolver depends on a column that the operations do not select.

@Resolver(() => Pet)
class PetMask {
  @FieldResolver()
  name(@Root() { name, status }: PetRow) {
    return `${status} ${name}`;
  }
}

@Resolver(() => Category)
class CategoryMask {
  @FieldResolver()
  async description(@Root() { id, name }: CategoryRow, @Ctx() { session }: Context) {
    const [row] = await session.query({ name: '', text: 'select description from categories where id = $1' }, [id]);
    return `${name}: ${(row as CategoryRow).description}`;
  }
}

@Resolver(() => Order)
class OrderMask {
  @FieldResolver()
  quantity(@Root() { quantity, petId, complete }: OrderRow) {
    return complete === false ? 100 * Number(petId) + (quantity ?? 0) : 0;
  }
}

@Resolver(() => InventoryItem)
class InventoryMask {
  @FieldResolver()
  quantity(@Root() { quantity, status }: InventoryRow) {
    return status === 'available' ? 1000 + quantity : 0;
  }

  /** Replaces the resolver that is made from the declaration of the table. */
  @FieldResolver()
  async pet(@Root() { petId }: InventoryRow, @Ctx() { session }: Context) {
    const [pet] = await session.query({ name: '', text: 'select id, name, status::text from pets where id = $1' }, [
      petId,
    ]);
    return { ...(pet as PetRow), status: 'sold' };
  }
}

@Resolver(() => PetConnection)
class PageMask {
  @FieldResolver()
  totalCount() {
    return 77;
  }
}

const domainsOf = (access: Services) => {
  const domains = gatewayDomains(access);
  const masks = [new PetMask(), new CategoryMask(), new OrderMask(), new InventoryMask(), new PageMask()];
  return { ...domains, resolvers: [...domains.resolvers, ...masks] };
};

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway({}, Date.now, await createDatabase(), domainsOf as typeof gatewayDomains);
});
beforeEach(() => fillShop(gateway.database));
afterAll(() => gateway.close());

const REX = { name: 'available Rex' };
const DOGS = { description: 'Dogs: Loyal' };
const TWO = { quantity: 102 };
const STOCK = { quantity: 1003 };

test.each<[string, object]>([
  ['{ pet(id: 1) { name } }', { pet: REX }],
  ['{ pets(first: 1) { nodes { name } } }', { pets: { nodes: [REX] } }],
  ['{ pets(first: 1) { edges { node { name } } } }', { pets: { edges: [{ node: REX }] } }],
  ['{ pets(first: 1) { totalCount nodes { id } } }', { pets: { totalCount: 77, nodes: [{ id: '1' }] } }],
  [
    '{ category(id: 1) { description pets(first: 1) { totalCount } } }',
    { category: { ...DOGS, pets: { totalCount: 77 } } },
  ],
  ['{ category(id: 1) { pets(first: 1) { nodes { name } } } }', { category: { pets: { nodes: [REX] } } }],
  ['{ categories(first: 1) { nodes { description } } }', { categories: { nodes: [DOGS] } }],
  ['{ pet(id: 1) { category { description } } }', { pet: { category: DOGS } }],
  ['{ pets(first: 1) { nodes { category { description } } } }', { pets: { nodes: [{ category: DOGS }] } }],
  [
    '{ pet(id: 1) { a: inventory { quantity } orders { nodes { quantity } } } }',
    { pet: { a: STOCK, orders: { nodes: [TWO] } } },
  ],
  [
    '{ pets(first: 1) { nodes { orders { edges { node { quantity pet { name } } } } } } }',
    {
      pets: { nodes: [{ orders: { edges: [{ node: { ...TWO, pet: REX } }] } }] },
    },
  ],
  [
    '{ order(id: 1) { quantity pet { name category { description } } } }',
    { order: { ...TWO, pet: { ...REX, category: DOGS } } },
  ],
  ['{ orders { nodes { quantity } } }', { orders: { nodes: [TWO] } }],
  ['{ inventoryItem(petId: 1) { quantity } }', { inventoryItem: STOCK }],
  [
    '{ inventoryItem(petId: 1) { pet { name } } }',
    {
      inventoryItem: { pet: { name: 'sold Rex' } },
    },
  ],
  [
    '{ inventory(first: 1) { nodes { quantity pet { name } } } }',
    { inventory: { nodes: [{ ...STOCK, pet: { name: 'sold Rex' } }] } },
  ],
  ['{ node(id: "UGV0OjE") { ... on Pet { name } } }', { node: REX }],
  ['{ nodes(ids: ["T3JkZXI6MQ"]) { ... on Order { quantity pet { name } } } }', { nodes: [{ ...TWO, pet: REX }] }],
  [
    'mutation { updatePet(id: 1, input: { name: "Rex" }) { name category { description } } }',
    { updatePet: { ...REX, category: DOGS } },
  ],
])('a field resolver of a domain runs wherever its field is selected: %s', async (query, data) => {
  expect(await gateway.data(query)).toMatchObject(data);
});

test('a field resolver of a domain runs for events, whichever fields other subscribers select', async () => {
  const client = socketClient(await gateway.listen());
  const names = client.subscribe('subscription { orderChanged { order { pet { name } } } }');
  const all = client.subscribe(
    'subscription { orderChanged { order { quantity pet { name category { description } } } } }',
  );
  await until(async () => (await running(gateway)) === 2);
  await gateway.data('mutation { updateOrder(id: 1, input: { shipDate: null }) { id } }');
  const order = { ...TWO, pet: { ...REX, category: DOGS } };
  expect(await all.until(1)).toEqual([{ data: { orderChanged: { order } } }]);
  expect(await names.until(1)).toEqual([{ data: { orderChanged: { order: { pet: REX } } } }]);
  client.close();
});

test('a field resolver of a domain runs for REST, and for the ETag that If-Match compares', async () => {
  const masked = { id: 1, status: 'available', categoryId: 1, ...REX };
  expect((await send(gateway, 'GET /pets/1')).json).toEqual(masked);
  expect((await send(gateway, 'GET /pets?id=1')).json).toEqual([masked]);
  const put = (etag: string | undefined) =>
    send(gateway, 'PUT /pets/1', { name: 'Max', categoryId: 1 }, { 'if-match': etag });
  const { etag } = (await send(gateway, 'GET /pets/1')).headers;
  const changed = await put(etag);
  expect(changed).toMatchObject({ status: 200, json: { ...masked, name: 'available Max' } });
  expect(await put(etag)).toMatchObject({ status: 412 });
  expect(await put(changed.headers.etag)).toMatchObject({ status: 200 });
});

test('a field resolver that reads the database while If-Match is compared reads in the transaction of the change', async () => {
  const { headers } = await send(gateway, 'GET /categories/1');
  const put = () => send(gateway, 'PUT /categories/1', { name: 'Dogs' }, { 'if-match': headers.etag });
  expect(await put()).toMatchObject({ status: 200, json: { description: 'Dogs: null' } });
  expect(await put()).toMatchObject({ status: 412 });
});
