import { statement } from '../../../src/database/statement';
import { emptyDatabase } from '../../helper/database';
import { type Gateway, startGateway } from '../../helper/gateway';
import { StatementLog } from '../../helper/statements';

const CATEGORIES = 20;
const PETS_EACH = 12;

let gateway: Gateway;
let log: StatementLog;
beforeAll(async () => {
  gateway = await startGateway();
  await fill();
});
beforeEach(() => {
  log = StatementLog.of(gateway.database);
});
afterEach(() => log.stop());
afterAll(() => gateway.close());

async function fill(): Promise<void> {
  await emptyDatabase(gateway.database);
  for (const sql of [
    `insert into categories (name, description) select 'Category ' || i, 'Kind ' || i from generate_series(1, ${CATEGORIES}) i`,
    `insert into pets (name, category_id) select 'Pet ' || i, 1 + i % ${CATEGORIES} from generate_series(1, ${CATEGORIES * PETS_EACH}) i`,
    'insert into inventory (pet_id, quantity) select id, id % 7 from pets where id % 2 = 0',
    `insert into orders (pet_id, quantity) select id, 1 from pets, generate_series(1, 3) where id <= ${CATEGORIES}`,
  ]) {
    await gateway.database.query(statement(sql), []);
  }
}

/** The SQL statements that an operation runs, and its response. */
async function run(query: string, variables?: object) {
  log.texts.length = 0;
  const data = await gateway.data(query, variables);
  return { data, texts: log.ofShop, tables: log.ofShop.map(tablesOf) };
}

/** The tables of an SQL statement, as they occur in it: `pets categories`. */
function tablesOf(text: string): string {
  const found = text.matchAll(/\b(?:from|join|into|update)\s+(pets|categories|orders|inventory)\b/g);
  return Array.from(found, ([, table]) => table).join(' ');
}

/** The number of items in all lists of a response. */
function itemsIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const own = Array.isArray(value) ? value.length : 0;
  return Object.values(value).reduce<number>((sum, inner) => sum + itemsIn(inner), own);
}

describe('the number of SQL statements does not grow with the number of rows', () => {
  test.each<[string, { items: number; tables: string[] }, string]>([
    [
      'categories with their first pets, each with its category and stock',
      { items: 1 + 10, tables: ['categories', 'pets categories inventory'] },
      `query ($n: Int!) {
      categories(first: $n) { nodes { name pets(first: 10) { nodes { name category { name } inventory { quantity } } } } }
    }`,
    ],
    [
      'pets with their orders, each with its pet',
      { items: 1 + 2, tables: ['pets', 'orders pets'] },
      `query ($n: Int!) {
      pets(first: $n) { edges { node { orders(first: 2) { edges { node { pet { name } } } } } } }
    }`,
    ],
    [
      'totals at every depth, each level counted once',
      { items: 1 + 1, tables: ['categories', 'categories', 'pets', 'pets'] },
      `query ($n: Int!) {
      categories(first: $n) { totalCount nodes { pets(first: 1) { totalCount nodes { id } } } }
    }`,
    ],
    [
      'the same relation under two aliases, once for each',
      { items: 1 + 1 + 1, tables: ['categories', 'pets', 'pets'] },
      `query ($n: Int!) {
      categories(first: $n) { nodes { first: pets(first: 1) { nodes { id } } last: pets(last: 1) { nodes { id } } } }
    }`,
    ],
    [
      'stock with its pets, their categories and those of their pets',
      { items: 1 + 3, tables: ['inventory pets', 'categories', 'pets inventory'] },
      `query ($n: Int!) {
      inventory(first: $n) { nodes { pet { category { pets(first: 3) { nodes { inventory { quantity } } } } } } }
    }`,
    ],
  ])('for %s', async (_what, { items, tables }, query) => {
    for (const n of [2, 20]) {
      const { data, tables: read } = await run(query, { n });
      expect(itemsIn(data)).toBe(n * items);
      expect(read).toEqual(tables);
    }
  });

  test('for a page, a relation and a total, with the right rows', async () => {
    const { data } = await run(`{
      categories(first: 3) { nodes { id pets(first: 2) { totalCount nodes { id category { id } inventory { petId } } } } }
    }`);
    const tracked = (petId: string, id: string) => ({ id: petId, category: { id }, inventory: { petId } });
    const untracked = (petId: string, id: string) => ({ id: petId, category: { id }, inventory: null });
    expect(data).toEqual({
      categories: {
        nodes: [
          { id: '1', pets: { totalCount: PETS_EACH, nodes: [tracked('20', '1'), tracked('40', '1')] } },
          { id: '2', pets: { totalCount: PETS_EACH, nodes: [untracked('1', '2'), untracked('21', '2')] } },
          { id: '3', pets: { totalCount: PETS_EACH, nodes: [tracked('2', '3'), tracked('22', '3')] } },
        ],
      },
    });
  });
});

describe('a query reads', () => {
  test('no column that it does not select', async () => {
    const without = await run('{ categories { nodes { id name } } }');
    expect(without.texts).toEqual([expect.not.stringContaining('description')]);
    expect(without.texts).toEqual([expect.stringContaining('name')]);
    const withIt = await run('{ categories { nodes { id name description } } }');
    expect(withIt.texts).toEqual([expect.stringContaining('description')]);
  });

  test.each<[string, string[], number]>([
    ['{ category(id: 1) { name } }', ['categories'], 0],
    ['{ pet(id: 1) { category { name } } }', ['pets categories'], 0],
    ['{ categories(orderBy: { field: NAME }) { edges { node { name } } } }', ['categories'], 20],
    [
      'query { pets { nodes { ...F } } } fragment F on Pet { category { ... on Category { name } } }',
      ['pets categories'],
      20,
    ],
  ])('no description in %s', async (query, expected, items) => {
    const { data, tables, texts } = await run(query);
    expect(tables).toEqual(expected);
    expect(itemsIn(data)).toBe(items);
    expect(JSON.stringify(data)).toContain('"name":"Category ');
    expect(texts.join()).not.toContain('description');
  });

  test('no total that it does not select', async () => {
    const without = await run('{ pets { nodes { id } } }');
    expect(without.tables).toEqual(['pets']);
    expect(without.texts.join()).not.toContain('count(');
    const withIt = await run('{ pets { totalCount nodes { id } } }');
    expect(withIt.tables).toEqual(['pets', 'pets']);
    expect(withIt.texts.join()).toContain('count(');
    expect(withIt.data.pets?.totalCount).toBe(CATEGORIES * PETS_EACH);
  });

  test.each<[string, string[], object]>([
    ['{ pet(id: 1) { name } }', ['pets'], { pet: { name: 'Pet 1' } }],
    [
      '{ inventoryItem(petId: 2) { quantity status } }',
      ['inventory pets'],
      { inventoryItem: { quantity: 2, status: 'available' } },
    ],
  ])('one row in one statement: %s', async (query, expected, row) => {
    const { data, tables } = await run(query);
    expect(tables).toEqual(expected);
    expect(data).toEqual(row);
  });
});

test.each([
  ['placeOrder(input: { petId: 2, quantity: 1 }) { id }'],
  ['createPet(input: { name: "Rex", categoryId: 1 }) { id }'],
])('one statement does all of %s', async (field) => {
  const { texts } = await run(`mutation { ${field} }`);
  expect(texts).toHaveLength(1);
});

test('what is selected under several names is read once, and leaves the database once', async () => {
  const aliases = Array.from({ length: 30 }, (_, i) => `n${i}: name`).join(' ');
  const { data, texts } = await run(
    `{ pets(first: 2) { nodes { ${aliases} category { a: description b: description } } } }`,
  );
  expect(texts).toHaveLength(1);
  expect(texts[0]?.match(/pets\.name/g)).toHaveLength(1);
  expect(texts[0]?.match(/categories\.description/g)).toHaveLength(1);
  expect(data.pets?.nodes?.[0]).toMatchObject({ n0: 'Pet 1', n29: 'Pet 1', category: { a: 'Kind 2', b: 'Kind 2' } });
});
