import pg from 'pg';
import { statement } from '../../../src/database/statement';
import { emptyDatabase } from '../../helper/database';
import { type Gateway, startGateway } from '../../helper/gateway';
import { StatementLog } from '../../helper/statements';

let gateway: Gateway;
let log: StatementLog;
beforeAll(async () => {
  gateway = await startGateway();
  await emptyDatabase(gateway.database);
  for (const sql of [
    "insert into categories (name, description) select 'Category ' || i, 'Kind ' || i from generate_series(1, 20) i",
    "insert into pets (name, category_id) select 'Pet ' || i, 1 + i % 20 from generate_series(1, 240) i",
    'insert into inventory (pet_id, quantity) select id, id % 7 from pets where id % 2 = 0',
    'insert into orders (pet_id, quantity) select id, 1 from pets, generate_series(1, 3) where id <= 20',
  ])
    await gateway.database.serviceSession().query(statement(sql), []);
});
beforeEach(() => {
  log = StatementLog.of(gateway.database);
});
afterEach(() => log.stop());
afterAll(() => gateway.close());

/** Runs an operation. @returns its data, and its SQL statements on the shop's tables. */
async function run(query: string, variables?: object) {
  log.texts.length = 0;
  const data = await gateway.data(query, variables);
  return { data, texts: log.ofShop };
}

/** The number of items in all lists of a response. */
function itemsIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const own = Array.isArray(value) ? value.length : 0;
  return Object.values(value).reduce<number>((sum, inner) => sum + itemsIn(inner), own);
}

describe('the number of SQL statements does not grow with the number of rows:', () => {
  test.each<[string, number, number, string]>([
    [
      'categories with their first pets, and the category and stock of each pet',
      1 + 10,
      2,
      'categories(first: $n) { nodes { name pets(first: 10) { nodes { name category { name } inventory { quantity } } } } }',
    ],
    [
      'pets with their orders, and the pet of each order',
      1 + 2,
      2,
      'pets(first: $n) { edges { node { orders(first: 2) { edges { node { pet { name } } } } } } }',
    ],
    [
      'totals at two levels, with one count per level',
      1 + 1,
      4,
      'categories(first: $n) { totalCount nodes { pets(first: 1) { totalCount nodes { id } } } }',
    ],
    [
      'the same relation under two aliases, with one statement per alias',
      1 + 1 + 1,
      3,
      'categories(first: $n) { nodes { first: pets(first: 1) { nodes { id } } last: pets(last: 1) { nodes { id } } } }',
    ],
    [
      'stock with its pet, the category of the pet, and the pets of that category',
      1 + 3,
      3,
      'inventory(first: $n) { nodes { pet { category { pets(first: 3) { nodes { inventory { quantity } } } } } } }',
    ],
  ])('%s', async (_what, items, most, field) => {
    for (const n of [2, 20]) {
      const { data, texts } = await run(`query ($n: Int!) { ${field} }`, { n });
      expect(itemsIn(data)).toBe(n * items);
      expect(texts.length).toBeLessThanOrEqual(most);
    }
  });

  test('each parent row still has the right child rows', async () => {
    const { data } = await run(`{
      categories(first: 3) { nodes { id pets(first: 2) { totalCount nodes { id category { id } inventory { petId } } } } }
    }`);
    const pet = (id: number, categoryId: string) => ({
      id: String(id),
      category: { id: categoryId },
      inventory: id % 2 ? null : { petId: String(id) },
    });
    const category = (id: string, ...pets: number[]) => ({
      id,
      pets: { totalCount: 12, nodes: pets.map((petId) => pet(petId, id)) },
    });
    const nodes = [category('1', 20, 40), category('2', 1, 21), category('3', 2, 22)];
    expect(data).toEqual({ categories: { nodes } });
  });
});

test.each<[string, number]>([
  ['{ pet(id: 1) { name category { name } } }', 0],
  ['{ inventoryItem(petId: 2) { quantity status } }', 0],
  ['{ categories(orderBy: { field: NAME }) { edges { node { name } } } }', 20],
  ['query { pets { nodes { ...F } } } fragment F on Pet { category { ... on Category { name } } }', 20],
])('a single statement reads %s, without columns or totals that are not selected', async (query, items) => {
  const { data, texts } = await run(query);
  expect([itemsIn(data), texts.length]).toEqual([items, 1]);
  expect(texts[0]).not.toMatch(/description|count\(/);
});

test('selected descriptions and totals are read', async () => {
  expect((await run('{ categories { nodes { description } } }')).texts.join()).toContain('description');
  const { data, texts } = await run('{ pets { totalCount } }');
  expect(texts.join()).toContain('count(');
  expect(data).toEqual({ pets: { totalCount: 240 } });
});

test('a column with several aliases is read from the database once', async () => {
  const aliases = Array.from({ length: 30 }, (_, i) => `n${i}: name`).join(' ');
  const query = `{ pets(first: 2) { nodes { ${aliases} category { a: description b: description } } } }`;
  const { data, texts } = await run(query);
  expect(texts).toHaveLength(1);
  expect(texts[0]?.match(/pets\.name/g)).toHaveLength(1);
  expect(texts[0]?.match(/categories\.description/g)).toHaveLength(1);
  expect(data.pets?.nodes?.[0]).toMatchObject({ n0: 'Pet 1', n29: 'Pet 1', category: { a: 'Kind 2', b: 'Kind 2' } });
});

describe('the relations of a mutation under many aliases need at most twice the statements of one alias:', () => {
  /** Runs a mutation. @returns the number of statements on the shop's tables, in transactions too. */
  async function statementsOf(query: string, key?: string): Promise<number> {
    const sent = jest.spyOn(pg.Client.prototype, 'query');
    const { errors } = await gateway.graphql(query, {}, { 'idempotency-key': key });
    const texts = (sent.mock.calls as unknown[][]).map(([config]) =>
      typeof config === 'string' ? config : String((config as { text?: string }).text),
    );
    sent.mockRestore();
    expect(errors).toEqual([]);
    return texts.filter((text) => /\b(pets|categories|orders|inventory)\b/.test(text)).length;
  }

  test.each([
    ['updatePet(id: 1, input: {})', 'category { id }', 800],
    ['placeOrder(input: { petId: 1, quantity: 1 })', 'pet { category { id } }', 500],
  ])('%s { %s }', async (field, relation, most) => {
    const mutation = (aliases: number) =>
      `mutation { ${field} { ${Array.from({ length: aliases }, (_, i) => `c${i}: ${relation}`).join(' ')} } }`;
    for (const key of [undefined, field.slice(0, 5)]) {
      const one = await statementsOf(mutation(1), key && `${key}-one`);
      expect(one).toBeGreaterThan(0);
      expect(await statementsOf(mutation(most), key && `${key}-most`)).toBeLessThanOrEqual(2 * one);
    }
  });
});

test.each([
  'placeOrder(input: { petId: 2, quantity: 1 }) { id }',
  'createPet(input: { name: "Rex", categoryId: 1 }) { id }',
])('a single statement runs %s', async (field) => {
  expect((await run(`mutation { ${field} }`)).texts).toHaveLength(1);
});
