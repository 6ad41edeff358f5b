import { fillShop } from '../helper/database';
import { type Gateway, startGateway } from '../helper/gateway';
import { send } from '../rest/client';
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

describe.each(INTERFACES)('adjusting stock over %s', (name) => {
  const inventory = clientOf(name, () => gateway, INVENTORY);
  const orders = clientOf(name, () => gateway, ORDERS);
  const adjust = async (petId: number | string, by: unknown) => {
    if (name === 'REST')
      return (await send(gateway, `POST /store/inventory/${petId}/adjustments`, { by })).json as object;
    const query =
      'mutation ($id: ID!, $by: Int!) { it: adjustInventory(petId: $id, by: $by) { petId quantity status } }';
    const { data, errors } = await gateway.graphql<{ it: object | null }>(query, { id: petId, by });
    return errors[0]?.extensions ?? (data.it as object);
  };

  test.each([
    [2, 5],
    [-3, 0],
    [2147483644, 2147483647],
  ])('by %i sets 3 units to %i', async (by, quantity) => {
    expect(await adjust(1, by)).toMatchObject({ quantity, status: 'available' });
    expect(await inventory.read(1)).toEqual({ ...ITEM, quantity });
  });

  test.each<[string, number | string, unknown, number, string, object]>([
    [
      'more units than are in stock',
      1,
      -4,
      409,
      'INSUFFICIENT_STOCK',
      { rule: 'EXCEEDS_STOCK', params: { available: 3 } },
    ],
    [
      'more units than an int32',
      1,
      2147483645,
      400,
      'BAD_USER_INPUT',
      { rule: 'OUT_OF_RANGE', params: { max: 2147483644 } },
    ],
    ['no units', 1, 0, 400, 'BAD_USER_INPUT', { rule: 'OUT_OF_RANGE' }],
    ['half a unit', 1, 0.5, 400, 'BAD_USER_INPUT', { rule: 'TYPE' }],
    ['null', 1, null, 400, 'BAD_USER_INPUT', { rule: 'REQUIRED' }],
  ])('%s is refused', async (_what, petId, by, status, code, detail) => {
    const refused = (await adjust(petId, by)) as { details: { message: string }[] };
    expect(refused).toMatchObject({ status, code });
    expect(refused.details.map(({ message: _, ...rest }) => rest)).toEqual([{ path: 'by', ...detail }]);
    expect(await inventory.list()).toEqual([ITEM]);
  });

  test.each([2, 99, LARGEST])('the stock of pet %s, which is not tracked, is refused', async (petId) => {
    expect(await adjust(petId, 1)).toMatchObject({ status: 404, code: 'NOT_FOUND' });
    expect(await inventory.list()).toEqual([ITEM]);
  });

  test('adjustments and orders at the same time add up', async () => {
    const changes = [
      ...Array.from({ length: 10 }, () => adjust(1, 5)),
      ...Array.from({ length: 5 }, () => adjust(1, -2)),
      ...Array.from({ length: 3 }, () => orders.create({ petId: 1, quantity: 1 })),
    ];
    const answers = await Promise.all(changes);
    const refused = answers.filter((answer) => 'code' in answer).length;
    // Only changes that take units may be refused, since the stock is small at first.
    expect(refused).toBeLessThanOrEqual(8);
    const taken = answers.slice(10).map((answer, i) => ('code' in answer ? 0 : i < 5 ? 2 : 1));
    expect(await inventory.read(1)).toMatchObject({
      quantity: 3 + 50 - taken.reduce<number>((sum, units) => sum + units, 0),
    });
  });
});

test('an adjustment is repeated safely with an idempotency key', async () => {
  const adjust = () => send(gateway, 'POST /store/inventory/1/adjustments', { by: 2 }, { 'idempotency-key': 'once' });
  const [first, second] = [await adjust(), await adjust()];
  expect([first.status, second.text, second.headers['idempotent-replayed']]).toEqual([200, first.text, 'true']);
  expect((await send(gateway, 'GET /store/inventory/1')).json).toMatchObject({ quantity: 5 });
});

test('inventory is filtered by bounds of its quantity', async () => {
  await gateway.data(
    'mutation { a: setInventory(petId: 2, input: { quantity: 7 }) { petId } b: setInventory(petId: 3, input: { quantity: 0 }) { petId } }',
  );
  const listed = async (filter: string) =>
    ((await send(gateway, `GET /store/inventory?${filter}`)).json as { petId: number }[]).map(({ petId }) => petId);
  expect(await listed('minQuantity=3')).toEqual([1, 2]);
  expect(await listed('minQuantity=1&maxQuantity=3')).toEqual([1]);
  expect(await listed('minQuantity=4&maxQuantity=3')).toEqual([]);
  expect(await listed('minQuantity=3&sort=-quantity')).toEqual([2, 1]);
});

test('an entry returns its pet', async () => {
  expect(await gateway.data('{ inventoryItem(petId: 1) { pet { name inventory { quantity } } } }')).toEqual({
    inventoryItem: { pet: { name: 'Rex', inventory: { quantity: 3 } } },
  });
});
