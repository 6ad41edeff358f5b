import { fillShop } from '../helper/database';
import { type Gateway, startGateway } from '../helper/gateway';
import { clientOf, INTERFACES, INVENTORY, ORDERS, PETS } from './clients';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
beforeEach(() => fillShop(gateway.database));
afterAll(() => gateway.close());

const ITEM = { petId: '1', quantity: 3, status: 'available' };
const LARGEST = '9223372036854775807';

describe.each(INTERFACES)('over %s', (name) => {
  const inventory = clientOf(name, () => gateway, INVENTORY);
  const pets = clientOf(name, () => gateway, PETS);
  const orders = clientOf(name, () => gateway, ORDERS);

  test('only pets whose stock is tracked have an inventory entry', async () => {
    expect([await inventory.read(1), await inventory.read(2), await inventory.read(99)]).toEqual([ITEM, null, null]);
    expect(await inventory.list()).toEqual([ITEM]);
  });

  test("an entry shows the pet's status", async () => {
    await pets.update(1, { status: 'sold' });
    expect(await inventory.read(1)).toEqual({ ...ITEM, status: 'sold' });
  });

  test.each([0, 1, 2147483647])('stock can be set to %i, whether or not it was tracked before', async (quantity) => {
    for (const [petId, status] of [
      [1, 'available'],
      [2, 'pending'],
    ] as const) {
      expect(await inventory.update(petId, { quantity })).toEqual({ petId: String(petId), quantity, status });
      expect(await inventory.read(petId)).toEqual({ petId: String(petId), quantity, status });
    }
    expect(await inventory.list()).toHaveLength(2);
  });

  test.each<[string, () => Promise<unknown>, string]>([
    [
      'setting the stock of an unknown pet',
      () => inventory.update(LARGEST, { quantity: 1 }),
      `Pet ${LARGEST} does not exist.`,
    ],
    ['removing stock that is not tracked', () => inventory.remove(2), 'Pet 2 has no inventory entry.'],
    ['removing the stock of an unknown pet', () => inventory.remove(99), 'Pet 99 has no inventory entry.'],
  ])('%s is refused', async (_what, change, message) => {
    expect(await change()).toMatchObject({ code: 'NOT_FOUND', status: 404, message });
    expect(await inventory.list()).toEqual([ITEM]);
  });

  test('orders are not limited once the stock of their pet is no longer tracked', async () => {
    expect(await orders.create({ petId: 1, quantity: 4 })).toMatchObject({ code: 'INSUFFICIENT_STOCK' });
    expect([await inventory.remove(1), await inventory.read(1)]).toEqual(['removed', null]);
    expect(await orders.create({ petId: 1, quantity: 4 })).toMatchObject({ quantity: 4 });
    expect(await pets.read(1)).not.toBeNull();
  });

  test('an entry is removed only once if two callers remove it at the same time', async () => {
    const answers = await Promise.all([inventory.remove(1), inventory.remove(1)]);
    expect(answers).toContain('removed');
    expect(answers).toContainEqual(expect.objectContaining({ code: 'NOT_FOUND', status: 404 }));
  });
});

test('an entry returns its pet', async () => {
  expect(await gateway.data('{ inventoryItem(petId: 1) { pet { name inventory { quantity } } } }')).toEqual({
    inventoryItem: { pet: { name: 'Rex', inventory: { quantity: 3 } } },
  });
});
