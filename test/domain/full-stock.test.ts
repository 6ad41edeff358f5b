import { statement } from '../../src/database/statement';
import { emptyDatabase } from '../helper/database';
import { type Gateway, startGateway } from '../helper/gateway';

const MOST = 2147483647;

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
// An order of 5 units, after which the stock of its pet is counted anew.
beforeEach(async () => {
  await emptyDatabase(gateway.database);
  for (const rows of [
    "categories (name) values ('Fish')",
    "pets (name, category_id) values ('Nemo', 1), ('Dory', 1)",
    'inventory (pet_id, quantity) values (1, 10), (2, 10)',
  ])
    await gateway.database.query(statement(`insert into ${rows}`), []);
  await gateway.data('mutation { placeOrder(input: { petId: 1, quantity: 5 }) { id } }');
});
afterAll(() => gateway.close());

const count = (quantity: number) =>
  gateway.data(`mutation { setInventory(petId: 1, input: { quantity: ${quantity} }) { quantity } }`);

/** The units in stock of both pets. */
async function stock(): Promise<(number | undefined)[]> {
  const { a, b } = await gateway.data<Record<string, { quantity: number } | null>>(
    '{ a: inventoryItem(petId: 1) { quantity } b: inventoryItem(petId: 2) { quantity } }',
  );
  return [a?.quantity, b?.quantity];
}

const INTERFACES = {
  GraphQL: {
    change: (input: object) =>
      gateway.data('mutation ($input: OrderUpdate!) { updateOrder(id: 1, input: $input) { id } }', { input }),
    cancel: () => gateway.data('mutation { cancelOrder(id: 1) { id } }'),
  },
  REST: {
    change: (payload: object) => ok(200, { method: 'PATCH', url: '/store/orders/1', payload }),
    cancel: () => ok(204, { method: 'DELETE', url: '/store/orders/1' }),
  },
};

async function ok(status: number, request: { method: 'PATCH' | 'DELETE'; url: string; payload?: object }) {
  expect((await gateway.app.inject(request)).statusCode).toBe(status);
}

describe.each(Object.entries(INTERFACES))('stock is never more than 2147483647 in %s', (_name, by) => {
  test.each([MOST, MOST - 4])('after an order is cancelled: %i units before it', async (before) => {
    await count(before);
    await by.cancel();
    expect(await stock()).toEqual([MOST, 10]);
  });

  test.each<[string, object, number[]]>([
    ['is moved to another pet', { petId: 2 }, [MOST, 5]],
    ['loses its pet', { petId: null }, [MOST, 10]],
    ['loses its quantity', { quantity: null }, [MOST, 10]],
    ['is reduced to 2 units', { quantity: 2 }, [MOST, 10]],
    ['is enlarged to 7 units', { quantity: 7 }, [MOST - 2, 10]],
    ['is enlarged to all units', { quantity: MOST }, [5, 10]],
    ['keeps pet and quantity', { petId: 1, quantity: 5 }, [MOST, 10]],
  ])('after an order %s', async (_change, input, after) => {
    await count(MOST);
    await by.change(input);
    expect(await stock()).toEqual(after);
  });

  test('after an order is reduced, and enlarged again', async () => {
    await count(MOST - 1);
    await by.change({ quantity: 2 });
    expect(await stock()).toEqual([MOST, 10]);
    await by.change({ quantity: 5 });
    expect(await stock()).toEqual([MOST - 3, 10]);
  });

  test('and exactly that, if all units that come back fit', async () => {
    await count(MOST - 5);
    await by.change({ petId: 2 });
    expect(await stock()).toEqual([MOST, 5]);
  });
});
