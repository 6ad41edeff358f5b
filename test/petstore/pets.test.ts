import { fillShop } from '../helper/database';
import { type Gateway, startGateway } from '../helper/gateway';
import { send } from '../rest/client';
import { clientOf, INTERFACES, PETS } from './clients';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
beforeEach(() => fillShop(gateway.database));
afterAll(() => gateway.close());

const REX = { id: '1', name: 'Rex', status: 'available', categoryId: '1' };
const BELLO = { id: '2', name: 'Bello', status: 'pending', categoryId: '1' };
const TOM = { id: '3', name: 'Tom', status: 'sold', categoryId: '2' };

describe.each(INTERFACES)('over %s', (name) => {
  const pets = clientOf(name, () => gateway, PETS);

  test('pets are read by id and as a list; an unknown id is not found', async () => {
    expect([await pets.read(2), await pets.read(7)]).toEqual([BELLO, null]);
    expect(await pets.list()).toEqual([REX, BELLO, TOM]);
  });

  test.each<[string, object, object]>([
    ['with a trimmed name, and available by default', { name: '  Mia ', categoryId: 2 }, { status: 'available' }],
    ['with a status', { name: 'Mia', categoryId: 2, status: 'pending' }, { status: 'pending' }],
  ])('a pet is created %s', async (_how, input, made) => {
    const mia = { id: '4', name: 'Mia', categoryId: '2', ...made };
    expect(await pets.create(input)).toEqual(mia);
    expect(await pets.read(4)).toEqual(mia);
  });

  test.each<[string, object, object]>([
    ['none', {}, BELLO],
    ['the name, trimmed', { name: ' Max\n' }, { ...BELLO, name: 'Max' }],
    ['the category', { categoryId: 2 }, { ...BELLO, categoryId: '2' }],
    ['all', { name: 'Max', categoryId: 2, status: 'sold' }, { id: '2', name: 'Max', categoryId: '2', status: 'sold' }],
  ])('an update changes only the given fields: %s', async (_what, input, after) => {
    expect(await pets.update(2, input)).toEqual(after);
    expect(await pets.list()).toEqual([REX, after, TOM]);
  });

  test('any status may follow any other', async () => {
    for (const status of ['sold', 'pending', 'available', 'sold', 'available', 'pending', 'sold'])
      expect(await pets.update(1, { status })).toEqual({ ...REX, status });
  });

  test.each<[string, () => Promise<unknown>, object]>([
    [
      'creating a pet in an unknown category',
      () => pets.create({ name: 'Mia', categoryId: 7 }),
      {
        code: 'UNKNOWN_REFERENCE',
        status: 422,
        message: 'Category 7 does not exist.',
        details: [{ path: 'categoryId' }],
      },
    ],
    [
      'moving a pet to an unknown category',
      () => pets.update(1, { name: 'Max', categoryId: 7 }),
      { code: 'UNKNOWN_REFERENCE', status: 422, details: [{ path: 'categoryId' }] },
    ],
    [
      'changing an unknown pet',
      () => pets.update(7, { name: 'Max' }),
      { code: 'NOT_FOUND', status: 404, message: 'Pet 7 does not exist.' },
    ],
    ['an empty update of an unknown pet', () => pets.update(7, {}), { code: 'NOT_FOUND', status: 404 }],
    ['deleting an unknown pet', () => pets.remove(7), { code: 'NOT_FOUND', status: 404 }],
    ['deleting a pet that has orders', () => pets.remove(1), { code: 'PET_HAS_ORDERS', status: 409 }],
  ])('%s is refused, and changes nothing', async (_what, change, refusal) => {
    expect(await change()).toMatchObject(refusal);
    expect(await pets.list()).toEqual([REX, BELLO, TOM]);
  });

  test('a pet with shipped orders can be deleted, along with its stock, only after the orders are cancelled', async () => {
    await gateway.data('mutation { updateOrder(id: 1, input: { complete: true }) { id } }');
    expect(await pets.remove(1)).toMatchObject({ code: 'PET_HAS_ORDERS' });
    await gateway.data('mutation { cancelOrder(id: 1) { id } }');
    expect([await pets.remove(1), await pets.read(1)]).toEqual(['removed', null]);
    expect(await gateway.data('{ inventoryItem(petId: 1) { quantity } }')).toEqual({ inventoryItem: null });
  });

  test('a pet is deleted only once if two callers delete it at the same time, and its id is not reused', async () => {
    const answers = await Promise.all([pets.remove(3), pets.remove(3)]);
    expect(answers).toContain('removed');
    expect(answers).toContainEqual(expect.objectContaining({ code: 'NOT_FOUND', status: 404 }));
    expect(await pets.create({ name: 'Tom', categoryId: 1 })).toMatchObject({ id: '4' });
  });
});

test('a pet returns its category, stock and orders', async () => {
  const pets = `{ pets(first: 2) { nodes {
    category { name } inventory { quantity } orders { totalCount nodes { quantity } }
  } } }`;
  const nodes = [
    { category: { name: 'Dogs' }, inventory: { quantity: 3 }, orders: { totalCount: 1, nodes: [{ quantity: 2 }] } },
    { category: { name: 'Dogs' }, inventory: null, orders: { totalCount: 0, nodes: [] } },
  ];
  expect(await gateway.data(pets)).toEqual({ pets: { nodes } });
});

test.each<[string, object, object]>([
  ['all fields', { name: ' Bella', categoryId: 2, status: 'sold' }, { name: 'Bella', categoryId: 2, status: 'sold' }],
  ['no status', { name: 'Bello', categoryId: 1 }, { name: 'Bello', categoryId: 1, status: 'available' }],
])('PUT replaces a pet, with the same defaults as a create: %s', async (_what, body, pet) => {
  expect(await send(gateway, 'PUT /pets/2', body)).toMatchObject({ status: 200, json: { id: 2, ...pet } });
  expect((await send(gateway, 'GET /pets/2')).json).toEqual({ id: 2, ...pet });
});

test.each([
  ['/pets/7', { name: 'Mia', categoryId: 1 }, { code: 'NOT_FOUND', status: 404, message: 'Pet 7 does not exist.' }],
  ['/pets/1', { name: 'Mia', categoryId: 7 }, { code: 'UNKNOWN_REFERENCE', details: [{ path: 'categoryId' }] }],
])('PUT %s %j is refused', async (path, body, error) => {
  expect((await send(gateway, `PUT ${path}`, body)).json).toMatchObject(error);
});
