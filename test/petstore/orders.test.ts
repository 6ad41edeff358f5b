import { fillShop } from '../helper/database';
import { type Gateway, startGateway } from '../helper/gateway';
import { clientOf, INTERFACES, INVENTORY, ORDERS, PETS } from './clients';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
beforeEach(() => fillShop(gateway.database));
afterAll(() => gateway.close());

const DAY = '2026-11-21T09:30:00.000Z';
const MOST = 2147483647;
/** The order that `fillShop` creates. It reserves two units of pet 1. Three more units are in stock. */
const ORDER = { id: '1', petId: '1', quantity: 2, shipDate: null, complete: false };
const EMPTY = { id: '2', petId: null, quantity: null, shipDate: null, complete: false };

describe.each(INTERFACES)('over %s', (name) => {
  const orders = clientOf(name, () => gateway, ORDERS);
  const inventory = clientOf(name, () => gateway, INVENTORY);
  const pets = clientOf(name, () => gateway, PETS);

  /** The units in stock by pet id, for pets whose stock is tracked. */
  const stock = async () =>
    Object.fromEntries((await inventory.list()).map(({ petId, quantity }) => [petId, quantity]));
  const setStock = (petId: number, quantity: number) => inventory.update(petId, { quantity });
  const ship = (id = 1) => orders.update(id, { complete: true });

  test('orders are read by id and as a list; an unknown id is not found', async () => {
    expect([await orders.read(1), await orders.read(7)]).toEqual([ORDER, null]);
    expect(await orders.list()).toEqual([ORDER]);
  });

  describe('placing an order with', () => {
    test.each<[string, object, object, number]>([
      ['no fields', {}, {}, 3],
      ['a pet without a quantity', { petId: 1 }, { petId: '1' }, 3],
      ['a quantity without a pet', { quantity: MOST }, { quantity: MOST }, 3],
      ['units of a pet whose stock is not tracked', { petId: 2, quantity: MOST }, { petId: '2', quantity: MOST }, 3],
      ['units in stock', { petId: 1, quantity: 2 }, { petId: '1', quantity: 2 }, 1],
      [
        'every field, with all units in stock',
        { petId: 1, quantity: 3, shipDate: '2026-11-21T10:30:00+01:00', complete: true },
        { petId: '1', quantity: 3, shipDate: DAY, complete: true },
        0,
      ],
    ])('%s is accepted', async (_what, input, made, left) => {
      expect(await orders.create(input)).toEqual({ ...EMPTY, ...made });
      expect(await orders.read(2)).toEqual({ ...EMPTY, ...made });
      expect(await stock()).toEqual({ 1: left });
    });

    test.each<[string, object, object]>([
      [
        'an unknown pet',
        { petId: 7, quantity: 1 },
        { code: 'UNKNOWN_REFERENCE', status: 422, message: 'Pet 7 does not exist.', details: [{ path: 'petId' }] },
      ],
      [
        'more units than are left',
        { petId: 1, quantity: 4 },
        {
          code: 'INSUFFICIENT_STOCK',
          status: 409,
          details: [{ path: 'quantity', message: 'exceeds the stock: 3' }],
        },
      ],
    ])('%s is refused, and reserves no stock', async (_what, input, refusal) => {
      expect(await orders.create(input)).toMatchObject(refusal);
      expect([await orders.list(), await stock()]).toEqual([[ORDER], { 1: 3 }]);
    });
  });

  describe('an update', () => {
    test.each<[string, object, object]>([
      ['none', {}, {}],
      ['the pet', { petId: 2 }, { petId: '2' }],
      ['the quantity', { quantity: 1 }, { quantity: 1 }],
      ['the ship date', { shipDate: '2027-01-01T00:00:00+02:00' }, { shipDate: '2026-12-31T22:00:00.000Z' }],
      ['completion', { complete: true }, { complete: true }],
      ['the pet, removed with null', { petId: null }, { petId: null }],
      ['the quantity, removed with null', { quantity: null }, { quantity: null }],
      ['the ship date, removed with null', { shipDate: null }, { shipDate: null }],
      [
        'everything',
        { petId: null, quantity: null, shipDate: null, complete: true },
        { petId: null, quantity: null, shipDate: null, complete: true },
      ],
    ])('changes only the given fields: %s', async (_what, input, changed) => {
      await orders.update(1, { shipDate: DAY });
      const after = { ...ORDER, shipDate: DAY, ...changed };
      expect(await orders.update(1, input)).toEqual(after);
      expect(await orders.list()).toEqual([after]);
    });

    // Each pet has five units. The order reserves two units of pet 1.
    test.each<[string, object, object]>([
      ['more units', { quantity: 5 }, { 1: 0, 2: 5 }],
      ['fewer units', { quantity: 1 }, { 1: 4, 2: 5 }],
      ['no units', { quantity: null }, { 1: 5, 2: 5 }],
      ['another pet', { petId: 2 }, { 1: 5, 2: 3 }],
      ['another pet and more units', { petId: 2, quantity: 5 }, { 1: 5, 2: 0 }],
      ['no pet', { petId: null }, { 1: 5, 2: 5 }],
      ['the same pet and units', { petId: 1, quantity: 2 }, { 1: 3, 2: 5 }],
      ['completion', { complete: true }, { 1: 3, 2: 5 }],
      ['completion with more units', { complete: true, quantity: 4 }, { 1: 1, 2: 5 }],
    ])('adjusts the reserved stock if the input has %s', async (_what, input, after) => {
      await setStock(2, 5);
      await orders.update(1, input);
      expect(await stock()).toEqual(after);
      await orders.update(1, { complete: false });
      expect(await orders.remove(1)).toBe('removed');
      expect(await stock()).toEqual({ 1: 5, 2: 5 });
    });

    test.each<[string, number, object, object]>([
      [
        'of an unknown order',
        7,
        { quantity: 1 },
        { code: 'NOT_FOUND', status: 404, message: 'Order 7 does not exist.' },
      ],
      ['of an unknown order, without fields,', 7, {}, { code: 'NOT_FOUND', status: 404 }],
      [
        'to an unknown pet',
        1,
        { petId: 7, quantity: 1 },
        { code: 'UNKNOWN_REFERENCE', status: 422, details: [{ path: 'petId' }] },
      ],
      [
        'to more units than are left',
        1,
        { quantity: 6, shipDate: DAY },
        {
          code: 'INSUFFICIENT_STOCK',
          status: 409,
          details: [{ path: 'quantity', message: 'exceeds the stock: 5' }],
        },
      ],
      ['to a pet with too few units', 1, { petId: 2, complete: true }, { code: 'INSUFFICIENT_STOCK', status: 409 }],
    ])('%s is refused, and changes nothing', async (_what, id, input, refusal) => {
      await setStock(2, 1);
      expect(await orders.update(id, input)).toMatchObject(refusal);
      expect([await orders.list(), await stock()]).toEqual([[ORDER], { 1: 3, 2: 1 }]);
    });

    test('reserves stock for an order that was placed before the stock was tracked', async () => {
      await orders.create({ petId: 2, quantity: 2 });
      await setStock(2, 5);
      await orders.update(2, { quantity: 3 });
      expect(await stock()).toMatchObject({ 2: 2 });
      await orders.update(2, { quantity: null });
      expect(await stock()).toMatchObject({ 2: 5 });
    });

    test.each([{ petId: 2 }, { quantity: 1 }, { petId: null }, { quantity: null }])(
      'of a complete order cannot change its pet or quantity: %j',
      async (input) => {
        await ship();
        const refusal = { code: 'ORDER_COMPLETE', status: 409 };
        expect(await orders.update(1, { ...input, shipDate: DAY })).toMatchObject(refusal);
        expect([await orders.read(1), await stock()]).toEqual([{ ...ORDER, complete: true }, { 1: 3 }]);
      },
    );

    test('of a complete order may repeat its pet and quantity, and change the other fields', async () => {
      await ship();
      const input = { petId: 1, quantity: 2, shipDate: DAY, complete: true };
      expect(await orders.update(1, input)).toEqual({ ...ORDER, shipDate: DAY, complete: true });
    });
  });

  describe('cancelling', () => {
    test.each<[string, () => Promise<unknown>, object]>([
      ['returns the units of an order', async () => undefined, { 1: 5 }],
      ['returns no units of a complete order, which has been shipped', () => ship(), { 1: 3 }],
      ['creates no inventory entry for a pet whose stock is not tracked', () => inventory.remove(1), {}],
      ['never raises stock above the maximum', () => setStock(1, MOST), { 1: MOST }],
    ])('%s', async (_what, before, after) => {
      await before();
      expect(await orders.remove(1)).toBe('removed');
      expect([await orders.read(1), await stock()]).toEqual([null, after]);
      expect(await orders.remove(1)).toMatchObject({ code: 'NOT_FOUND', status: 404 });
      expect(await stock()).toEqual(after);
    });

    test('returns no units if the order was placed before the stock was tracked', async () => {
      await orders.create({ petId: 2, quantity: 2 });
      await setStock(2, 5);
      await orders.remove(2);
      expect(await stock()).toEqual({ 1: 3, 2: 5 });
    });

    test('returns the units only once if two callers cancel the order at the same time', async () => {
      const answers = await Promise.all([orders.remove(1), orders.remove(1)]);
      expect(answers).toContain('removed');
      expect(answers).toContainEqual(expect.objectContaining({ code: 'NOT_FOUND', status: 404 }));
      expect(await stock()).toEqual({ 1: 5 });
    });
  });

  // Before each test, an order reserves five units. Then the stock of its pet is set to the maximum.
  describe('stock is never more than 2147483647', () => {
    beforeEach(async () => {
      await setStock(1, 10);
      await setStock(2, 10);
      await orders.update(1, { quantity: 5 });
      await setStock(1, MOST);
    });

    test.each<[string, object, number[]]>([
      ['moved to another pet', { petId: 2 }, [MOST, 5]],
      ['without its pet', { petId: null }, [MOST, 10]],
      ['without its quantity', { quantity: null }, [MOST, 10]],
      ['reduced to 2 units', { quantity: 2 }, [MOST, 10]],
      ['enlarged to 7 units', { quantity: 7 }, [MOST - 2, 10]],
      ['enlarged to all units', { quantity: MOST }, [5, 10]],
      ['updated without a change', { petId: 1, quantity: 5 }, [MOST, 10]],
    ])('after an order is %s', async (_change, input, [first, second]) => {
      await orders.update(1, input);
      expect(await stock()).toEqual({ 1: first, 2: second });
    });

    test('but includes every returned unit if all of them fit', async () => {
      await setStock(1, MOST - 5);
      await orders.update(1, { petId: 2 });
      expect(await stock()).toEqual({ 1: MOST, 2: 5 });
    });

    test('after an order is reduced and enlarged again, or cancelled', async () => {
      await setStock(1, MOST - 1);
      await orders.update(1, { quantity: 2 });
      expect(await stock()).toEqual({ 1: MOST, 2: 10 });
      await orders.update(1, { quantity: 5 });
      expect(await stock()).toEqual({ 1: MOST - 3, 2: 10 });
      await orders.remove(1);
      expect(await stock()).toEqual({ 1: MOST, 2: 10 });
    });
  });

  test('the pet of an order cannot be deleted before the order is cancelled', async () => {
    expect(await pets.remove(1)).toMatchObject({ code: 'PET_HAS_ORDERS', status: 409 });
    await orders.remove(1);
    expect(await pets.remove(1)).toBe('removed');
  });
});

test('an order returns its pet, or null if the order has no pet', async () => {
  await gateway.data('mutation { placeOrder(input: {}) { id } }');
  expect(await gateway.data('{ orders { nodes { pet { name category { name } } } } }')).toEqual({
    orders: { nodes: [{ pet: { name: 'Rex', category: { name: 'Dogs' } } }, { pet: null }] },
  });
});
