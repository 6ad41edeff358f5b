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
    createCategory(input: { name: "Birds" }) { id }
    a: createPet(input: { name: "Kiwi", categoryId: 1 }) { id }
    b: createPet(input: { name: "Emu", categoryId: 1, status: pending }) { id }
    c: createPet(input: { name: "Rhea", categoryId: 1, status: sold }) { id }
  }`);
});
afterAll(() => gateway.close());

const READ = 'query ($petId: ID!) { inventoryItem(petId: $petId) { petId quantity status } }';
const SET =
  'mutation ($petId: ID!, $quantity: Int!) { setInventory(petId: $petId, input: { quantity: $quantity }) { petId quantity status } }';
const REMOVE = 'mutation ($petId: ID!) { removeInventory(petId: $petId) { petId quantity status } }';
const ITEM = { petId: '1', quantity: 5, status: 'available' };

const set = (petId: number, quantity: number) => gateway.data(SET, { petId, quantity });

describe('inventoryItem', () => {
  test.each([1, 99])('is null, without an error, while the stock of pet %i is not tracked', async (petId) => {
    expect(await gateway.graphql(READ, { petId })).toMatchObject({
      status: 200,
      data: { inventoryItem: null },
      errors: [],
    });
  });

  test("has the pet's current status", async () => {
    await set(1, 5);
    expect(await gateway.data(READ, { petId: 1 })).toEqual({ inventoryItem: ITEM });
    await gateway.data('mutation { updatePet(id: 1, input: { status: sold }) { id } }');
    expect(await gateway.data(READ, { petId: 1 })).toEqual({ inventoryItem: { ...ITEM, status: 'sold' } });
  });

  test('has its pet', async () => {
    await set(1, 5);
    expect(await gateway.data('{ inventoryItem(petId: 1) { pet { name inventory { quantity } } } }')).toEqual({
      inventoryItem: { pet: { name: 'Kiwi', inventory: { quantity: 5 } } },
    });
  });
});

describe('setInventory', () => {
  test.each([0, 1, 2147483647])('sets the stock to %i', async (quantity) => {
    expect(await set(1, quantity)).toEqual({ setInventory: { ...ITEM, quantity } });
    expect(await gateway.data(READ, { petId: 1 })).toEqual({ inventoryItem: { ...ITEM, quantity } });
  });

  test('replaces a previous stock', async () => {
    await set(1, 7);
    expect(await set(1, 5)).toEqual({ setInventory: ITEM });
    expect(await gateway.data('{ inventory { totalCount } }')).toEqual({ inventory: { totalCount: 1 } });
  });

  test('refuses a pet that does not exist', async () => {
    expect(await refusalOf(gateway, SET, { petId: '9223372036854775807', quantity: 1 })).toMatchObject({
      http: 200,
      code: 'NOT_FOUND',
      status: 404,
    });
  });
});

describe('removeInventory', () => {
  test('returns the entry as it was; the stock is then untracked', async () => {
    await set(1, 5);
    expect(await gateway.data(REMOVE, { petId: 1 })).toEqual({ removeInventory: ITEM });
    expect(await gateway.data('{ inventoryItem(petId: 1) { quantity } pet(id: 1) { id } }')).toEqual({
      inventoryItem: null,
      pet: { id: '1' },
    });
    await gateway.data('mutation { placeOrder(input: { petId: 1, quantity: 6 }) { id } }');
  });

  test.each([1, 99])('finds nothing if the stock of pet %i is not tracked', async (petId) => {
    expect(await refusalOf(gateway, REMOVE, { petId })).toMatchObject({
      http: 200,
      code: 'NOT_FOUND',
      status: 404,
    });
  });

  test('sent twice at once succeeds once, and finds nothing the other time', async () => {
    await set(1, 5);
    const answers = await Promise.all([gateway.graphql(REMOVE, { petId: 1 }), gateway.graphql(REMOVE, { petId: 1 })]);
    const codes = answers.map(({ errors }) => errors[0]?.extensions?.code);
    expect(codes.sort()).toEqual(['NOT_FOUND', undefined]);
  });
});
