import { fillShop } from '../helper/database';
import { type Gateway, startGateway } from '../helper/gateway';
import { send } from '../rest/client';
import { CATEGORIES, clientOf, INTERFACES, PETS } from './clients';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
beforeEach(() => fillShop(gateway.database));
afterAll(() => gateway.close());

const DOGS = { id: '1', name: 'Dogs', description: 'Loyal' };
const CATS = { id: '2', name: 'Cats', description: null };

describe.each(INTERFACES)('over %s', (name) => {
  const categories = clientOf(name, () => gateway, CATEGORIES);
  const pets = clientOf(name, () => gateway, PETS);

  test('categories are read by id and as a list; an unknown id is not found', async () => {
    expect([await categories.read(1), await categories.read(7)]).toEqual([DOGS, null]);
    expect(await categories.list()).toEqual([DOGS, CATS]);
  });

  test.each<[string, object, string | null]>([
    ['with name and description, both trimmed', { name: '\tBirds ', description: ' Loud. ' }, 'Loud.'],
    ['without a description', { name: 'Birds' }, null],
    ['with a null description', { name: 'Birds', description: null }, null],
  ])('a category is created %s', async (_how, input, description) => {
    const birds = { id: '3', name: 'Birds', description };
    expect(await categories.create(input)).toEqual(birds);
    expect(await categories.read(3)).toEqual(birds);
  });

  test('two categories may have the same name', async () => {
    expect(await categories.create({ name: 'Dogs' })).toEqual({ id: '3', name: 'Dogs', description: null });
  });

  test.each<[string, object, object]>([
    ['none', {}, DOGS],
    ['the name, trimmed', { name: ' Hounds ' }, { ...DOGS, name: 'Hounds' }],
    ['the description', { description: 'They howl.' }, { ...DOGS, description: 'They howl.' }],
    ['the description, removed with null', { description: null }, { ...DOGS, description: null }],
  ])('an update changes only the given fields: %s', async (_what, input, after) => {
    expect(await categories.update(1, input)).toEqual(after);
    expect(await categories.list()).toEqual([after, CATS]);
  });

  test.each<[string, () => Promise<unknown>, object]>([
    [
      'changing an unknown category',
      () => categories.update(7, { name: 'Mice' }),
      { code: 'NOT_FOUND', status: 404, message: 'Category 7 does not exist.' },
    ],
    ['an empty update of an unknown category', () => categories.update(7, {}), { code: 'NOT_FOUND', status: 404 }],
    ['deleting an unknown category', () => categories.remove(7), { code: 'NOT_FOUND', status: 404 }],
    ['deleting a category that has pets', () => categories.remove(1), { code: 'CATEGORY_NOT_EMPTY', status: 409 }],
  ])('%s is refused, and changes nothing', async (_what, change, refusal) => {
    expect(await change()).toMatchObject(refusal);
    expect(await categories.list()).toEqual([DOGS, CATS]);
    expect(await pets.list()).toHaveLength(3);
  });

  test('an empty category is deleted only once if two callers delete it at the same time', async () => {
    await pets.remove(3);
    const answers = await Promise.all([categories.remove(2), categories.remove(2)]);
    expect(answers).toContain('removed');
    expect(answers).toContainEqual(expect.objectContaining({ code: 'NOT_FOUND', status: 404 }));
    expect(await categories.list()).toEqual([DOGS]);
  });

  test('when a category is deleted and a pet is created in it at the same time, only one of the two succeeds', async () => {
    for (let id = 3; id <= 12; id++) {
      await categories.create({ name: 'Birds' });
      const [deleted, created] = await Promise.all([
        categories.remove(id),
        pets.create({ name: 'Tweety', categoryId: id }),
      ]);
      const isDeleted = deleted === 'removed';
      expect(deleted).toEqual(isDeleted ? 'removed' : expect.objectContaining({ code: 'CATEGORY_NOT_EMPTY' }));
      expect(created).toMatchObject(isDeleted ? { code: 'UNKNOWN_REFERENCE' } : { categoryId: String(id) });
    }
  });
});

test('a category returns its pets, which can be filtered and sorted', async () => {
  const query = `{ category(id: 1) {
    all: pets(orderBy: { field: NAME }) { totalCount nodes { name } }
    pending: pets(filter: { statuses: [pending] }) { totalCount nodes { name } }
    others: pets(filter: { categoryIds: [2] }) { totalCount nodes { name } }
  } }`;
  expect(await gateway.data(query)).toEqual({
    category: {
      all: { totalCount: 2, nodes: [{ name: 'Bello' }, { name: 'Rex' }] },
      pending: { totalCount: 1, nodes: [{ name: 'Bello' }] },
      others: { totalCount: 0, nodes: [] },
    },
  });
});

test.each<[object, object]>([
  [
    { name: ' Hounds', description: 'Aloof' },
    { id: 1, name: 'Hounds', description: 'Aloof' },
  ],
  [{ name: 'Dogs' }, { id: 1, name: 'Dogs' }],
  [
    { name: 'Dogs', description: null },
    { id: 1, name: 'Dogs' },
  ],
])('PUT replaces a category, with the same defaults as a create: %j', async (body, category) => {
  expect(await send(gateway, 'PUT /categories/1', body)).toMatchObject({ status: 200, json: category });
  expect((await send(gateway, 'GET /categories/1')).json).toStrictEqual(category);
});
