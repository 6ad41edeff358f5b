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
    dogs: createCategory(input: { name: "Dogs" }) { id }
    cats: createCategory(input: { name: "Cats" }) { id }
  }`);
});
afterAll(() => gateway.close());

const CREATE = 'mutation ($input: NewPet!) { createPet(input: $input) { id name status categoryId } }';
const UPDATE =
  'mutation ($id: ID!, $input: PetUpdate!) { updatePet(id: $id, input: $input) { id name status categoryId } }';
const DELETE = 'mutation ($id: ID!) { deletePet(id: $id) { id name } }';
const READ = 'query ($id: ID!) { pet(id: $id) { id name status categoryId } }';
const REX = { id: '1', name: 'Rex', status: 'available', categoryId: '1' };

const create = (input: object) => gateway.data(CREATE, { input });
const createRex = () => create({ name: 'Rex', categoryId: 1 });

describe('pet', () => {
  test('is null, without an error, if it does not exist', async () => {
    expect(await gateway.graphql(READ, { id: 7 })).toMatchObject({
      status: 200,
      data: { pet: null },
      errors: [],
    });
  });

  test('has its category, stock and orders', async () => {
    await createRex();
    const query =
      '{ pet(id: 1) { category { name } inventory { quantity } orders { totalCount nodes { quantity } } } }';
    expect(await gateway.data(query)).toEqual({
      pet: { category: { name: 'Dogs' }, inventory: null, orders: { totalCount: 0, nodes: [] } },
    });
    await gateway.data(`mutation {
      setInventory(petId: 1, input: { quantity: 5 }) { quantity }
      placeOrder(input: { petId: 1, quantity: 2 }) { id }
    }`);
    expect(await gateway.data(query)).toEqual({
      pet: {
        category: { name: 'Dogs' },
        inventory: { quantity: 3 },
        orders: { totalCount: 1, nodes: [{ quantity: 2 }] },
      },
    });
  });
});

describe('createPet', () => {
  test('trims the name and makes the pet available', async () => {
    const { createPet } = await gateway.data(CREATE, { input: { name: '  Rex ', categoryId: 1 } });
    expect(createPet).toEqual(REX);
    expect(await gateway.data(READ, { id: 1 })).toEqual({ pet: REX });
  });

  test.each(['available', 'pending', 'sold'])('accepts the status %s', async (status) => {
    expect((await create({ name: 'Rex', categoryId: 1, status })).createPet).toEqual({ ...REX, status });
  });

  test('treats a null status as absent', async () => {
    expect((await create({ name: 'Rex', categoryId: 1, status: null })).createPet).toEqual(REX);
  });

  test('refuses a category that does not exist, and creates nothing', async () => {
    const input = { name: 'Rex', categoryId: '9223372036854775807' };
    expect(await refusalOf(gateway, CREATE, { input })).toMatchObject({
      http: 200,
      code: 'UNKNOWN_REFERENCE',
      status: 422,
      paths: ['input.categoryId'],
    });
    expect(await gateway.data('{ pets { totalCount } }')).toEqual({ pets: { totalCount: 0 } });
  });
});

describe('updatePet', () => {
  beforeEach(createRex);
  const update = async (input: object) => (await gateway.data(UPDATE, { id: 1, input })).updatePet;

  test.each([
    ['nothing', {}, REX],
    ['the name, trimmed', { name: ' Max\n' }, { ...REX, name: 'Max' }],
    ['the category', { categoryId: '2' }, { ...REX, categoryId: '2' }],
    ['the status', { status: 'sold' }, { ...REX, status: 'sold' }],
    [
      'all',
      { name: 'Max', categoryId: 2, status: 'pending' },
      { id: '1', name: 'Max', categoryId: '2', status: 'pending' },
    ],
  ])('changes only what the input gives: %s', async (_what, input, expected) => {
    expect(await update(input)).toEqual(expected);
    expect(await gateway.data(READ, { id: 1 })).toEqual({ pet: expected });
  });

  test('allows any change of status', async () => {
    for (const status of ['sold', 'pending', 'available', 'sold', 'available', 'pending', 'sold']) {
      expect(await update({ status })).toEqual({ ...REX, status });
    }
  });

  test.each([
    ['a pet', 2, { name: 'Max' }, 'NOT_FOUND', 404],
    ['a pet (with an empty input)', 2, {}, 'NOT_FOUND', 404],
    ['a category', 1, { name: 'Max', categoryId: 3 }, 'UNKNOWN_REFERENCE', 422],
  ])('refuses %s that does not exist, and changes nothing', async (_what, id, input, code, status) => {
    expect(await refusalOf(gateway, UPDATE, { id, input })).toMatchObject({ http: 200, code, status });
    expect(await gateway.data(READ, { id: 1 })).toEqual({ pet: REX });
  });
});

describe('deletePet', () => {
  beforeEach(createRex);

  test('returns the pet as it was, and deletes it with its stock', async () => {
    await gateway.data('mutation { setInventory(petId: 1, input: { quantity: 5 }) { quantity } }');
    expect(await gateway.data(DELETE, { id: 1 })).toEqual({ deletePet: { id: '1', name: 'Rex' } });
    expect(
      await gateway.data('{ pet(id: 1) { id } inventoryItem(petId: 1) { quantity } inventory { totalCount } }'),
    ).toEqual({
      pet: null,
      inventoryItem: null,
      inventory: { totalCount: 0 },
    });
    expect(await refusalOf(gateway, DELETE, { id: 1 })).toMatchObject({ code: 'NOT_FOUND', status: 404 });
  });

  test('never frees the id for reuse', async () => {
    await gateway.data(DELETE, { id: 1 });
    expect((await createRex()).createPet).toMatchObject({ id: '2' });
  });

  test('is refused while the pet has orders, in any state', async () => {
    await gateway.data('mutation { placeOrder(input: { petId: 1, complete: true }) { id } }');
    expect(await refusalOf(gateway, DELETE, { id: 1 })).toMatchObject({
      http: 200,
      code: 'PET_HAS_ORDERS',
      status: 409,
    });
    expect(await gateway.data(READ, { id: 1 })).toEqual({ pet: REX });
    await gateway.data('mutation { cancelOrder(id: 1) { id } deletePet(id: 1) { id } }');
    expect(await gateway.data(READ, { id: 1 })).toEqual({ pet: null });
  });

  test('sent twice at once succeeds once, and finds nothing the other time', async () => {
    const answers = await Promise.all([gateway.graphql(DELETE, { id: 1 }), gateway.graphql(DELETE, { id: 1 })]);
    const codes = answers.map(({ errors }) => errors[0]?.extensions?.code);
    expect(codes.sort()).toEqual(['NOT_FOUND', undefined]);
  });

  test('runs in order within one operation', async () => {
    const { data, errors } = await gateway.graphql(
      'mutation { a: deletePet(id: 1) { id } b: deletePet(id: 1) { id } }',
    );
    expect(data).toEqual({ a: { id: '1' }, b: null });
    expect(errors).toMatchObject([{ path: ['b'], extensions: { code: 'NOT_FOUND' } }]);
    expect(await gateway.data(READ, { id: 1 })).toEqual({ pet: null });
  });
});
