import type { Change } from '../../src/database/database';
import { statement } from '../../src/database/statement';
import { fillShop } from '../helper/database';
import { type Gateway, startGateway } from '../helper/gateway';
import { running, socketClient } from '../helper/live';
import { until } from '../helper/until';
import { send } from '../rest/client';

let gateway: Gateway;
let changes: Change[] = [];
const listen = (change: Change) => changes.push(change);
beforeAll(async () => {
  gateway = await startGateway();
  gateway.database.listeners.add(listen);
});
beforeEach(async () => {
  await fillShop(gateway.database);
  await gateway.data('mutation { setInventory(petId: 2, input: { quantity: 10 }) { petId } }');
  await gateway.database.serviceSession().query(statement('delete from events'), []);
  changes = [];
});
afterAll(async () => {
  gateway.database.listeners.delete(listen);
  await gateway.close();
});

interface Recorded {
  readonly id: bigint;
  readonly at: Date;
  readonly topic: string;
  readonly kind: string;
  readonly objectId: string;
}

const recorded = () =>
  gateway.database
    .serviceSession()
    .query<Recorded>(statement('select id, at, topic, kind, object_id as "objectId" from events order by id'), []);

// Order 1 reserves two units of pet 1. Three units of pet 1 and ten of pet 2 are in stock. Stock of pet 3 is not tracked.
test.each<[string, ...string[]]>([
  ['createPet(input: { name: "Mia", categoryId: 1 }) { id }', 'pet CREATED 4'],
  ['updatePet(id: 1, input: { name: "Max" }) { id }', 'pet UPDATED 1'],
  ['deletePet(id: 2) { id }', 'pet DELETED 2', 'inventory DELETED 2'],
  ['deletePet(id: 3) { id }', 'pet DELETED 3'],
  ['setInventory(petId: 1, input: { quantity: 1 }) { petId }', 'inventory UPDATED 1'],
  ['setInventory(petId: 3, input: { quantity: 1 }) { petId }', 'inventory CREATED 3'],
  ['removeInventory(petId: 1) { petId }', 'inventory DELETED 1'],
  ['placeOrder(input: { petId: 1, quantity: 2 }) { id }', 'order CREATED 2', 'inventory UPDATED 1'],
  ['placeOrder(input: { petId: 3, quantity: 2 }) { id }', 'order CREATED 2'],
  ['placeOrder(input: {}) { id }', 'order CREATED 2'],
  ['updateOrder(id: 1, input: { quantity: 3 }) { id }', 'inventory UPDATED 1', 'order UPDATED 1'],
  ['updateOrder(id: 1, input: { petId: 2 }) { id }', 'inventory UPDATED 1', 'inventory UPDATED 2', 'order UPDATED 1'],
  ['updateOrder(id: 1, input: { petId: 3 }) { id }', 'inventory UPDATED 1', 'order UPDATED 1'],
  ['updateOrder(id: 1, input: { complete: true }) { id }', 'order UPDATED 1'],
  ['cancelOrder(id: 1) { id }', 'order DELETED 1', 'inventory UPDATED 1'],
  ['createCategory(input: { name: "Fish" }) { id }', 'category CREATED 3'],
  ['updateCategory(id: 1, input: {}) { id }', 'category UPDATED 1'],
  ['a: deletePet(id: 3) { id } b: deleteCategory(id: 2) { id }', 'pet DELETED 3', 'category DELETED 2'],
  ['adjustInventory(petId: 1, by: -1) { petId }', 'inventory UPDATED 1'],
])(
  'the mutation %s publishes and records its change, and any change of stock that it causes',
  async (field, ...expected) => {
    await gateway.data(`mutation { ${field} }`);
    const events = await recorded();
    expect(changes.map(({ topic, kind, id }) => `${topic} ${kind} ${id}`)).toEqual(expected);
    expect(events.map(({ topic, kind, objectId }) => `${topic} ${kind} ${objectId}`)).toEqual(expected);
    expect(changes.map(({ entry }) => entry)).toEqual(
      events.map(({ id, at }) => ({ id, at, requestId: expect.stringMatching(/^[0-9a-f-]{36}$/) })),
    );
  },
);

test('rejected changes are neither published nor recorded', async () => {
  const { errors } = await gateway.graphql(`mutation {
    a: updateOrder(id: 1, input: { quantity: 100 }) { id }
    b: placeOrder(input: { petId: 1, quantity: 100 }) { id }
    c: deletePet(id: 1) { id }
    d: setInventory(petId: 99, input: { quantity: 1 }) { petId }
  }`);
  expect([errors.length, changes, await recorded()]).toEqual([4, [], []]);
});

test('a deletion is published with the deleted row and the rows that it referred to', async () => {
  await gateway.data('mutation { a: removeInventory(petId: 2) { petId } b: deletePet(id: 2) { id } }');
  const written = { createdAt: expect.any(Date), updatedAt: expect.any(Date), version: expect.any(String) };
  const category = { id: 1n, name: 'Dogs', description: 'Loyal', ...written };
  const bello = { id: 2n, name: 'Bello', status: 'pending', categoryId: 1n, category, ...written };
  expect(changes.map(({ before }) => before)).toEqual([
    { petId: 2n, quantity: 10, status: 'pending', pet: bello, ...written },
    bello,
  ]);
});

test('each of several concurrent changes is published with the state of the row just before that change', async () => {
  const ids = Array.from({ length: 20 }, (_, i) => String(i + 3));
  await gateway.data(`mutation { ${ids.map((id) => `c${id}: createCategory(input: { name: "${id}" }) { id }`)} }`);
  const move = 'mutation ($categoryId: ID) { updatePet(id: 1, input: { categoryId: $categoryId }) { id } }';
  await Promise.all(ids.map((categoryId) => gateway.data(move, { categoryId })));
  const { pet } = await gateway.data<{ pet: { categoryId: string } }>('{ pet(id: 1) { categoryId } }');
  const moves = changes.filter(({ topic }) => topic === 'pet');
  const before = moves.map((change) => String((change.before as { categoryId: bigint }).categoryId));
  expect([...before, pet.categoryId].sort()).toEqual(['1', ...ids].sort());
});

test('subscribers get the id and the time of each event, and the id of the request that made the change', async () => {
  const client = socketClient(await gateway.listen());
  const fields = ['petChanged', 'orderChanged', 'inventoryChanged'];
  const subscribers = fields.map((field) => client.subscribe(`subscription { ${field} { eventId at requestId } }`));
  await until(async () => (await running(gateway)) === fields.length);
  await gateway.graphql('mutation { updatePet(id: 1, input: {}) { id } }', {}, { 'x-request-id': 'mine-1' });
  await send(gateway, 'POST /store/orders', { petId: 1, quantity: 1 }, { 'x-request-id': 'mine-2' });
  const received = await Promise.all(subscribers.map((subscriber) => subscriber.until(1)));
  const events = await recorded();
  expect(received.map(([answer]) => Object.values(answer?.data ?? {})[0])).toEqual(
    events.map(({ id, at }, i) => ({
      eventId: String(id),
      at: at.toISOString(),
      requestId: i === 0 ? 'mine-1' : 'mine-2',
    })),
  );
  client.close();
});
