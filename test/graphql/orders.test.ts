import { emptyDatabase } from '../helper/database';
import { type Gateway, startGateway } from '../helper/gateway';
import { refusalOf } from '../helper/refusal';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
beforeEach(async () => {
  await emptyDatabase(gateway.database);
  await gateway.data(`mutation {
    createCategory(input: { name: "Fish" }) { id }
    nemo: createPet(input: { name: "Nemo", categoryId: 1 }) { id }
    dory: createPet(input: { name: "Dory", categoryId: 1 }) { id }
  }`);
});
afterAll(() => gateway.close());

const FIELDS = 'id petId quantity shipDate complete';
const PLACE = `mutation ($input: NewOrder!) { placeOrder(input: $input) { ${FIELDS} } }`;
const UPDATE = `mutation ($id: ID!, $input: OrderUpdate!) { updateOrder(id: $id, input: $input) { ${FIELDS} } }`;
const CANCEL = `mutation ($id: ID!) { cancelOrder(id: $id) { ${FIELDS} } }`;
const READ = `query ($id: ID!) { order(id: $id) { ${FIELDS} } }`;
const DAY = '2026-11-21T09:30:00.000Z';
const EMPTY = { id: '1', petId: null, quantity: null, shipDate: null, complete: false };
const WHOLE = { id: '1', petId: '1', quantity: 2, shipDate: DAY, complete: false };

const place = async (input: object) => (await gateway.data(PLACE, { input })).placeOrder;
const placeWhole = () => place({ petId: 1, quantity: 2, shipDate: DAY });
const setStock = (petId: number, quantity: number) =>
  gateway.data(`mutation { setInventory(petId: ${petId}, input: { quantity: ${quantity} }) { quantity } }`);

/** Stock by pet, without untracked stock. */
async function stock(): Promise<Record<string, number>> {
  const { inventory } = await gateway.data('{ inventory { nodes { petId quantity } } }');
  return Object.fromEntries(inventory?.nodes?.map(({ petId, quantity }) => [petId, quantity]) ?? []);
}

describe('order', () => {
  test('is null, without an error, if it does not exist', async () => {
    expect(await gateway.graphql(READ, { id: 1 })).toMatchObject({
      status: 200,
      data: { order: null },
      errors: [],
    });
  });

  test('has its pet, if any', async () => {
    await placeWhole();
    await place({});
    expect(await gateway.data('{ orders { nodes { pet { name category { name } } } } }')).toEqual({
      orders: { nodes: [{ pet: { name: 'Nemo', category: { name: 'Fish' } } }, { pet: null }] },
    });
  });
});

describe('placeOrder', () => {
  test.each([
    ['no field at all', {}, EMPTY],
    ['null for every field', { petId: null, quantity: null, shipDate: null, complete: null }, EMPTY],
    ['every field', { petId: '1', quantity: 2, shipDate: DAY, complete: true }, { ...WHOLE, complete: true }],
    ['only a pet', { petId: 1 }, { ...EMPTY, petId: '1' }],
    ['only a quantity', { quantity: 2147483647 }, { ...EMPTY, quantity: 2147483647 }],
  ])('accepts %s', async (_what, input, expected) => {
    expect(await place(input)).toEqual(expected);
    expect(await gateway.data(READ, { id: 1 })).toEqual({ order: expected });
  });

  test('refuses a pet that does not exist, and places nothing', async () => {
    const input = { petId: '9223372036854775807', quantity: 1 };
    expect(await refusalOf(gateway, PLACE, { input })).toMatchObject({
      http: 200,
      code: 'UNKNOWN_REFERENCE',
      status: 422,
      paths: ['input.petId'],
    });
    expect(await gateway.data('{ orders { totalCount } }')).toEqual({ orders: { totalCount: 0 } });
  });

  test('is not limited by untracked stock', async () => {
    expect(await place({ petId: 1, quantity: 2147483647 })).toMatchObject({ quantity: 2147483647 });
    expect(await stock()).toEqual({});
  });

  test('takes its units from tracked stock, down to the last one', async () => {
    await setStock(1, 5);
    await place({ petId: 1, quantity: 2 });
    expect(await stock()).toEqual({ 1: 3 });
    await place({ petId: 1, quantity: 3 });
    expect(await stock()).toEqual({ 1: 0 });
  });

  test('is refused if fewer units are left, and takes none', async () => {
    await setStock(1, 5);
    expect(await refusalOf(gateway, PLACE, { input: { petId: 1, quantity: 6 } })).toMatchObject({
      http: 200,
      code: 'INSUFFICIENT_STOCK',
      details: [{ path: 'input.quantity', message: 'exceeds the stock: 5' }],
      status: 409,
    });
    expect(await stock()).toEqual({ 1: 5 });
    expect(await gateway.data('{ orders { totalCount } }')).toEqual({ orders: { totalCount: 0 } });
  });

  test('takes nothing from stock if it has no quantity', async () => {
    await setStock(1, 0);
    await place({ petId: 1 });
    expect(await stock()).toEqual({ 1: 0 });
  });
});

describe('updateOrder', () => {
  const update = async (input: object) => (await gateway.data(UPDATE, { id: 1, input })).updateOrder;

  test.each([
    ['nothing', {}, WHOLE],
    ['the pet', { petId: 2 }, { ...WHOLE, petId: '2' }],
    ['the quantity', { quantity: 1 }, { ...WHOLE, quantity: 1 }],
    ['the ship date', { shipDate: '2027-01-01T00:00:00+02:00' }, { ...WHOLE, shipDate: '2026-12-31T22:00:00.000Z' }],
    ['completion', { complete: true }, { ...WHOLE, complete: true }],
    ['the pet, removed by null', { petId: null }, { ...WHOLE, petId: null }],
    ['the quantity, removed by null', { quantity: null }, { ...WHOLE, quantity: null }],
    ['the ship date, removed by null', { shipDate: null }, { ...WHOLE, shipDate: null }],
    ['everything', { petId: null, quantity: null, shipDate: null, complete: false }, EMPTY],
  ])('changes only what the input gives: %s', async (_what, input, expected) => {
    await placeWhole();
    expect(await update(input)).toEqual(expected);
    expect(await gateway.data(READ, { id: 1 })).toEqual({ order: expected });
  });

  test.each([
    ['an order', 2, { quantity: 1 }, 'NOT_FOUND', 404],
    ['an order (with an empty input)', 2, {}, 'NOT_FOUND', 404],
    ['a pet', 1, { petId: 3, quantity: 1 }, 'UNKNOWN_REFERENCE', 422],
  ])('refuses %s that does not exist, and changes nothing', async (_what, id, input, code, status) => {
    await setStock(1, 5);
    await placeWhole();
    expect(await refusalOf(gateway, UPDATE, { id, input })).toMatchObject({ http: 200, code, status });
    expect(await gateway.data(READ, { id: 1 })).toEqual({ order: WHOLE });
    expect(await stock()).toEqual({ 1: 3 });
  });

  // Both pets start with 5 units, of which the order takes 2 of the first.
  test.each<[string, object, Record<string, number>]>([
    ['more units', { quantity: 5 }, { 1: 0, 2: 5 }],
    ['fewer units', { quantity: 1 }, { 1: 4, 2: 5 }],
    ['no units', { quantity: null }, { 1: 5, 2: 5 }],
    ['another pet', { petId: 2 }, { 1: 5, 2: 3 }],
    ['another pet and more units', { petId: 2, quantity: 5 }, { 1: 5, 2: 0 }],
    ['no pet', { petId: null }, { 1: 5, 2: 5 }],
    ['the same pet and units', { petId: 1, quantity: 2 }, { 1: 3, 2: 5 }],
    ['completion', { complete: true }, { 1: 3, 2: 5 }],
    ['completion with more units', { complete: true, quantity: 4 }, { 1: 1, 2: 5 }],
  ])('moves the reserved stock with %s', async (_what, input, expected) => {
    await setStock(1, 5);
    await setStock(2, 5);
    await placeWhole();
    await update(input);
    expect(await stock()).toEqual(expected);
    await gateway.data('mutation { updateOrder(id: 1, input: { complete: false }) { id } cancelOrder(id: 1) { id } }');
    expect(await stock()).toEqual({ 1: 5, 2: 5 });
  });

  test.each<[string, object]>([
    ['more units than are left', { quantity: 6, shipDate: null }],
    ['a pet with too few units', { petId: 2, complete: true }],
  ])('is refused with %s, and changes nothing', async (_what, input) => {
    await setStock(1, 5);
    await setStock(2, 1);
    await placeWhole();
    expect(await refusalOf(gateway, UPDATE, { id: 1, input })).toMatchObject({
      code: 'INSUFFICIENT_STOCK',
      status: 409,
    });
    expect(await gateway.data(READ, { id: 1 })).toEqual({ order: WHOLE });
    expect(await stock()).toEqual({ 1: 3, 2: 1 });
  });

  test('handles an order placed before its pet was tracked', async () => {
    await placeWhole();
    await setStock(1, 5);
    await update({ quantity: 3 });
    expect(await stock()).toEqual({ 1: 2 });
    await update({ quantity: null });
    expect(await stock()).toEqual({ 1: 5 });
  });

  describe('of a complete order', () => {
    beforeEach(async () => {
      await setStock(1, 5);
      await placeWhole();
      await update({ complete: true });
    });

    test.each<[string, object]>([
      ['pet', { petId: 2 }],
      ['quantity', { quantity: 1 }],
      ['pet to none', { petId: null }],
      ['quantity to none', { quantity: null }],
    ])('refuses a change of the %s', async (_what, input) => {
      expect(await refusalOf(gateway, UPDATE, { id: 1, input: { ...input, shipDate: null } })).toMatchObject({
        http: 200,
        code: 'ORDER_COMPLETE',
        status: 409,
      });
      expect(await gateway.data(READ, { id: 1 })).toEqual({ order: { ...WHOLE, complete: true } });
      expect(await stock()).toEqual({ 1: 3 });
    });

    test('accepts the same pet and quantity again, and another ship date', async () => {
      expect(await update({ petId: 1, quantity: 2, shipDate: null, complete: true })).toEqual({
        ...WHOLE,
        shipDate: null,
        complete: true,
      });
    });
  });
});

describe('cancelOrder', () => {
  test('returns the order as it was, deletes it and puts its units back in stock', async () => {
    await setStock(1, 5);
    await placeWhole();
    expect(await gateway.data(CANCEL, { id: 1 })).toEqual({ cancelOrder: WHOLE });
    expect(await gateway.data(READ, { id: 1 })).toEqual({ order: null });
    expect(await stock()).toEqual({ 1: 5 });
    expect(await refusalOf(gateway, CANCEL, { id: 1 })).toMatchObject({ code: 'NOT_FOUND', status: 404 });
    expect(await stock()).toEqual({ 1: 5 });
  });

  test('returns no units of a complete order: it has been shipped', async () => {
    await setStock(1, 5);
    await place({ petId: 1, quantity: 2, complete: true });
    await gateway.data(CANCEL, { id: 1 });
    expect(await stock()).toEqual({ 1: 3 });
  });

  test('returns no units that the order never took', async () => {
    await placeWhole();
    await setStock(1, 5);
    await gateway.data(CANCEL, { id: 1 });
    expect(await stock()).toEqual({ 1: 5 });
  });

  test('leaves untracked stock untracked', async () => {
    await setStock(1, 5);
    await placeWhole();
    await gateway.data('mutation { removeInventory(petId: 1) { quantity } }');
    await gateway.data(CANCEL, { id: 1 });
    expect(await stock()).toEqual({});
  });

  test('never exceeds the largest stock', async () => {
    await setStock(1, 5);
    await placeWhole();
    await setStock(1, 2147483647);
    await gateway.data(CANCEL, { id: 1 });
    expect(await stock()).toEqual({ 1: 2147483647 });
  });

  test('sent twice at once returns the units once', async () => {
    await setStock(1, 5);
    await placeWhole();
    const answers = await Promise.all([gateway.graphql(CANCEL, { id: 1 }), gateway.graphql(CANCEL, { id: 1 })]);
    const codes = answers.map(({ errors }) => errors[0]?.extensions?.code);
    expect(codes.sort()).toEqual(['NOT_FOUND', undefined]);
    expect(await stock()).toEqual({ 1: 5 });
  });
});
