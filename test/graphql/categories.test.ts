import { emptyDatabase } from '../helper/database';
import { type Gateway, startGateway } from '../helper/gateway';
import { refusalOf } from '../helper/refusal';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
beforeEach(() => emptyDatabase(gateway.database));
afterAll(() => gateway.close());

const CREATE = 'mutation ($input: NewCategory!) { createCategory(input: $input) { id name description } }';
const UPDATE =
  'mutation ($id: ID!, $input: CategoryUpdate!) { updateCategory(id: $id, input: $input) { id name description } }';
const DELETE = 'mutation ($id: ID!) { deleteCategory(id: $id) { id name description } }';
const READ = 'query ($id: ID!) { category(id: $id) { id name description } }';
const DOGS = { id: '1', name: 'Dogs', description: 'They bark.' };

const create = async (input: object) => (await gateway.data(CREATE, { input })).createCategory;
const createDogs = () => create({ name: 'Dogs', description: 'They bark.' });

describe('category', () => {
  test('is null, without an error, if it does not exist', async () => {
    expect(await gateway.graphql(READ, { id: 1 })).toMatchObject({
      status: 200,
      data: { category: null },
      errors: [],
    });
  });

  test('has its pets, which can be filtered and ordered', async () => {
    await createDogs();
    await gateway.data(`mutation {
      createCategory(input: { name: "Cats" }) { id }
      a: createPet(input: { name: "Rex", categoryId: 1 }) { id }
      b: createPet(input: { name: "Max", categoryId: 1, status: sold }) { id }
      c: createPet(input: { name: "Tom", categoryId: 2 }) { id }
    }`);
    const query = `{ category(id: 1) {
      all: pets(orderBy: { field: NAME }) { totalCount nodes { name } }
      sold: pets(filter: { statuses: [sold] }) { totalCount nodes { name } }
      theOthers: pets(filter: { categoryIds: [2] }) { totalCount nodes { name } }
    } }`;
    expect(await gateway.data(query)).toEqual({
      category: {
        all: { totalCount: 2, nodes: [{ name: 'Max' }, { name: 'Rex' }] },
        sold: { totalCount: 1, nodes: [{ name: 'Max' }] },
        theOthers: { totalCount: 0, nodes: [] },
      },
    });
  });
});

describe('createCategory', () => {
  test.each([
    ['trims the name and the description', { name: '\tDogs ', description: ' They bark. ' }, DOGS],
    ['requires no description', { name: 'Dogs' }, { ...DOGS, description: null }],
    ['accepts null for no description', { name: 'Dogs', description: null }, { ...DOGS, description: null }],
  ])('%s', async (_what, input, expected) => {
    expect(await create(input)).toEqual(expected);
    expect(await gateway.data(READ, { id: 1 })).toEqual({ category: expected });
  });

  test('accepts a name that another category has', async () => {
    await createDogs();
    expect(await createDogs()).toEqual({ ...DOGS, id: '2' });
  });
});

describe('updateCategory', () => {
  beforeEach(createDogs);

  test.each([
    ['nothing', {}, DOGS],
    ['the name', { name: ' Hounds ' }, { ...DOGS, name: 'Hounds' }],
    ['the description', { description: 'They howl.' }, { ...DOGS, description: 'They howl.' }],
    ['the description, removed by null', { description: null }, { ...DOGS, description: null }],
  ])('changes only what the input gives: %s', async (_what, input, expected) => {
    expect(await gateway.data(UPDATE, { id: 1, input })).toEqual({ updateCategory: expected });
    expect(await gateway.data(READ, { id: 1 })).toEqual({ category: expected });
  });

  test('refuses a category that does not exist', async () => {
    expect(await refusalOf(gateway, UPDATE, { id: 2, input: {} })).toMatchObject({
      code: 'NOT_FOUND',
      status: 404,
    });
  });
});

describe('deleteCategory', () => {
  beforeEach(createDogs);

  test('returns the category as it was, and deletes it', async () => {
    expect(await gateway.data(DELETE, { id: 1 })).toEqual({ deleteCategory: DOGS });
    expect(await gateway.data(READ, { id: 1 })).toEqual({ category: null });
    expect(await refusalOf(gateway, DELETE, { id: 1 })).toMatchObject({ code: 'NOT_FOUND', status: 404 });
  });

  test('is refused while it has pets', async () => {
    await gateway.data('mutation { createPet(input: { name: "Rex", categoryId: 1 }) { id } }');
    expect(await refusalOf(gateway, DELETE, { id: 1 })).toMatchObject({
      http: 200,
      code: 'CATEGORY_NOT_EMPTY',
      status: 409,
    });
    expect(await gateway.data('{ category(id: 1) { id } pet(id: 1) { id } }')).toEqual({
      category: { id: '1' },
      pet: { id: '1' },
    });
  });

  test('sent twice at once succeeds once, and finds nothing the other time', async () => {
    const answers = await Promise.all([gateway.graphql(DELETE, { id: 1 }), gateway.graphql(DELETE, { id: 1 })]);
    const codes = answers.map(({ errors }) => errors[0]?.extensions?.code);
    expect(codes.sort()).toEqual(['NOT_FOUND', undefined]);
  });

  test('sent while a pet is moved in leaves no pet without a category', async () => {
    for (let id = 1; id <= 10; id++) {
      const createPet = `mutation { createPet(input: { name: "Rex", categoryId: ${id} }) { id } }`;
      const [deleted, created] = await Promise.all([gateway.graphql(DELETE, { id }), gateway.graphql(createPet)]);
      const codes = [deleted, created].map(({ errors }) => errors[0]?.extensions?.code);
      expect([
        ['CATEGORY_NOT_EMPTY', undefined],
        [undefined, 'UNKNOWN_REFERENCE'],
      ]).toContainEqual(codes);
      await createDogs();
    }
  });
});
