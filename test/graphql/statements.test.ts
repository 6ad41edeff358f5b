import { statement } from '../../src/database/statement';
import { emptyDatabase } from '../helper/database';
import { type Gateway, startGateway } from '../helper/gateway';
import { StatementLog } from '../helper/statements';

const CATEGORIES = 20;
const PETS_EACH = 12;

let gateway: Gateway;
let log: StatementLog;
beforeAll(async () => {
  gateway = await startGateway();
  await emptyDatabase(gateway.database);
  for (const sql of [
    `insert into categories (name, description) select 'Category ' || i, 'Kind ' || i from generate_series(1, ${CATEGORIES}) i`,
    `insert into pets (name, category_id) select 'Pet ' || i, 1 + i % ${CATEGORIES} from generate_series(1, ${CATEGORIES * PETS_EACH}) i`,
    'insert into inventory (pet_id, quantity) select id, id % 7 from pets where id % 2 = 0',
    'insert into orders (pet_id, quantity) select id, 1 from pets, generate_series(1, 3)',
  ]) {
    await gateway.database.query(statement(sql), []);
  }
});
beforeEach(() => {
  log = StatementLog.of(gateway.database);
});
afterEach(() => log.stop());
afterAll(() => gateway.close());

/** The SQL statements that an operation runs. */
async function statementsOf(query: string, variables?: object): Promise<string[]> {
  log.texts.length = 0;
  await gateway.data(query, variables);
  return [...log.ofShop];
}

describe('the number of SQL statements does not grow with the number of rows', () => {
  test.each<[string, number, string]>([
    [
      'categories with their first pets, each with its category and stock',
      3,
      `query ($n: Int!) {
      categories(first: $n) { nodes { name pets(first: 10) { nodes { name category { name } inventory { quantity } } } } }
    }`,
    ],
    [
      'pets with their orders, each with its pet',
      3,
      `query ($n: Int!) {
      pets(first: $n) { edges { node { orders(first: 2) { edges { node { pet { name } } } } } } }
    }`,
    ],
    [
      'totals at every depth, each level counted once',
      4,
      `query ($n: Int!) {
      categories(first: $n) { totalCount nodes { pets(first: 1) { totalCount nodes { id } } } }
    }`,
    ],
    [
      'the same relation under two aliases, once for each',
      3,
      `query ($n: Int!) {
      categories(first: $n) { nodes { first: pets(first: 1) { nodes { id } } last: pets(last: 1) { nodes { id } } } }
    }`,
    ],
    [
      'stock with its pets, their categories and those of their pets',
      5,
      `query ($n: Int!) {
      inventory(first: $n) { nodes { pet { category { pets(first: 3) { nodes { inventory { quantity } } } } } } }
    }`,
    ],
  ])('for %s', async (_what, most, query) => {
    const few = await statementsOf(query, { n: 2 });
    const many = await statementsOf(query, { n: 20 });
    expect(few.length).toBeGreaterThan(1);
    expect(few.length).toBeLessThanOrEqual(most);
    expect(many).toHaveLength(few.length);
  });

  test('for a page, a relation and a total, with the right rows', async () => {
    const { categories } = await gateway.data(`{
      categories(first: 3) { nodes { id pets(first: 2) { totalCount nodes { id category { id } inventory { petId } } } } }
    }`);
    for (const category of categories?.nodes?.map((node) => node) ?? []) {
      expect(category.pets?.totalCount).toBe(PETS_EACH);
      for (const pet of category.pets?.nodes?.map((node) => node) ?? []) {
        expect(pet.category?.id).toBe(category.id);
        expect(pet.inventory).toEqual(Number(pet.id) % 2 ? null : { petId: pet.id });
      }
    }
  });
});

describe('a query reads', () => {
  test('no column that it does not select', async () => {
    const [without] = await statementsOf('{ categories { nodes { id name } } }');
    expect(without).not.toContain('description');
    const [withIt] = await statementsOf('{ categories { nodes { id name description } } }');
    expect(withIt).toContain('description');
  });

  test.each([
    '{ category(id: 1) { name } }',
    '{ pet(id: 1) { category { name } } }',
    '{ categories(orderBy: { field: NAME }) { edges { node { name } } } }',
    'query { pets { nodes { ...F } } } fragment F on Pet { category { ... on Category { name } } }',
  ])('no description in %s', async (query) => {
    const texts = await statementsOf(query);
    expect(texts.join()).toContain('name');
    expect(texts.join()).not.toContain('description');
  });

  test('no total that it does not select', async () => {
    expect((await statementsOf('{ pets { nodes { id } } }')).join()).not.toContain('count(');
    expect((await statementsOf('{ pets { totalCount nodes { id } } }')).join()).toContain('count(');
  });

  test('one row in one statement', async () => {
    expect(await statementsOf('{ pet(id: 1) { name } }')).toHaveLength(1);
    expect(await statementsOf('{ inventoryItem(petId: 2) { quantity status } }')).toHaveLength(1);
  });
});

describe('a change takes', () => {
  test.each<[string, string]>([
    ['placeOrder', 'mutation { placeOrder(input: { petId: 2, quantity: 1 }) { id } }'],
    ['createPet', 'mutation { createPet(input: { name: "Rex", categoryId: 1 }) { id } }'],
    ['setInventory', 'mutation { setInventory(petId: 1, input: { quantity: 3 }) { quantity } }'],
    ['updatePet', 'mutation { updatePet(id: 1, input: { name: "Rex" }) { id } }'],
  ])('one statement for %s', async (_what, mutation) => {
    expect(await statementsOf(mutation)).toHaveLength(1);
  });

  test('a Prisma call, which is recorded too', async () => {
    await statementsOf('mutation { updateCategory(id: 1, input: { name: "Dogs" }) { id } }');
    expect(log.texts.filter((text) => text.startsWith('prisma.'))).toEqual(['prisma.category.update']);
  });
});
