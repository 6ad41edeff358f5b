import type { Change } from '../../src/database/changes';
import type { Database } from '../../src/database/database';
import { statement } from '../../src/database/statement';
import { InventoryService } from '../../src/petstore/inventory/inventory-service';
import { OrderService } from '../../src/petstore/orders/order-service';
import { PetService } from '../../src/petstore/pets/pet-service';
import { createDatabase, emptyDatabase } from '../helper/database';

const pets = new PetService();
const orders = new OrderService();
const inventory = new InventoryService();

let database: Database;
let drop: () => Promise<void>;
let told: Change[];
beforeAll(async () => {
  ({ database, drop } = await createDatabase());
  database.listeners.add((change) => told.push(change));
});
beforeEach(async () => {
  await emptyDatabase(database);
  const run = (sql: string) => database.query(statement(sql), []);
  await run("insert into categories (name) select 'c' || i from generate_series(1, 21) as i");
  await run("insert into pets (name, category_id) values ('Rex', 1), ('Max', 1), ('Untracked', 1)");
  await run('insert into inventory (pet_id, quantity) values (1, 10), (2, 10)');
  told = [];
});
afterAll(() => drop());

const brief = () => told.map(({ topic, kind, id }) => `${topic} ${kind} ${id}`);

test.each<[string, () => Promise<unknown>, string[]]>([
  ['creating a pet', () => pets.create(database, { name: 'a', categoryId: 1n }), ['pet CREATED 4']],
  ['changing a pet', () => pets.update(database, 1n, { name: 'b' }), ['pet UPDATED 1']],
  ['deleting a pet and its stock', () => pets.delete(database, 1n), ['pet DELETED 1', 'inventory DELETED 1']],
  ['deleting a pet without stock', () => pets.delete(database, 3n), ['pet DELETED 3']],
  ['setting stock', () => inventory.set(database, 1n, { quantity: 1 }), ['inventory UPDATED 1']],
  ['starting to track stock', () => inventory.set(database, 3n, { quantity: 1 }), ['inventory CREATED 3']],
  ['stopping to track stock', () => inventory.remove(database, 1n), ['inventory DELETED 1']],
  [
    'placing an order that takes stock',
    () => orders.place(database, { petId: 1n, quantity: 2 }),
    ['order CREATED 1', 'inventory UPDATED 1'],
  ],
  [
    'placing an order of untracked stock',
    () => orders.place(database, { petId: 3n, quantity: 2 }),
    ['order CREATED 1'],
  ],
  ['placing an empty order', () => orders.place(database, {}), ['order CREATED 1']],
])('%s is announced', async (_what, change, expected) => {
  await change();
  expect(brief()).toEqual(expected);
});

test('a deleted row is announced with the rows it belongs to, which may be deleted next', async () => {
  await inventory.remove(database, 1n);
  await pets.delete(database, 1n);
  await pets.delete(database, 2n);
  const category = { id: 1n, name: 'c1', description: null };
  const rex = { id: 1n, name: 'Rex', status: 'available', categoryId: 1n, category };
  const max = { ...rex, id: 2n, name: 'Max' };
  expect(told.map(({ before }) => before)).toEqual([
    { petId: 1n, quantity: 10, status: 'available', pet: rex },
    rex,
    max,
    { petId: 2n, quantity: 10, status: 'available', pet: max },
  ]);
});

describe('for an order that holds stock,', () => {
  let id: bigint;
  beforeEach(async () => {
    ({ id } = await orders.place(database, { petId: 1n, quantity: 2 }));
    told = [];
  });

  test.each<[string, () => Promise<unknown>, string[]]>([
    ['a new quantity', () => orders.update(database, id, { quantity: 3 }), ['inventory UPDATED 1', 'order UPDATED 1']],
    [
      'another pet',
      () => orders.update(database, id, { petId: 2n }),
      ['inventory UPDATED 1', 'inventory UPDATED 2', 'order UPDATED 1'],
    ],
    [
      'a pet without stock',
      () => orders.update(database, id, { petId: 3n }),
      ['inventory UPDATED 1', 'order UPDATED 1'],
    ],
    ['its completion', () => orders.update(database, id, { complete: true }), ['order UPDATED 1']],
    ['its cancellation', () => orders.cancel(database, id), ['order DELETED 1', 'inventory UPDATED 1']],
  ])('%s is announced', async (_what, change, expected) => {
    await change();
    expect(brief()).toEqual(expected);
  });

  test('a refused change is not announced', async () => {
    await expect(orders.update(database, id, { quantity: 100 })).rejects.toThrow();
    await expect(orders.place(database, { petId: 1n, quantity: 100 })).rejects.toThrow();
    await expect(pets.delete(database, 1n)).rejects.toThrow();
    await expect(inventory.set(database, 99n, { quantity: 1 })).rejects.toThrow();
    expect(told).toEqual([]);
  });
});

test('concurrent changes each announce the state just before them', async () => {
  const categories = Array.from({ length: 20 }, (_, i) => BigInt(i + 2));
  await Promise.all(categories.map((categoryId) => pets.update(database, 1n, { categoryId })));
  const [last] = await database.query<{ id: bigint }>(statement('select category_id as id from pets where id = 1'), []);
  const before = told.map((change) => (change.before as { categoryId: bigint }).categoryId);
  expect(new Set([...before, last?.id])).toEqual(new Set([1n, ...categories]));
  expect(new Set(before).size).toBe(20);
});
