import { statement } from '../../src/database/statement';
import { emptyDatabase } from '../helper/database';
import { type Gateway, startGateway } from '../helper/gateway';
import { refusalOf } from '../helper/refusal';
import { titled } from '../helper/titled';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
beforeEach(async () => {
  await emptyDatabase(gateway.database);
  await gateway.database.query(
    statement(`with
      c as (insert into categories (name) values ('Dogs') returning id),
      p as (insert into pets (name, category_id) select 'Rex', id from c returning id),
      i as (insert into inventory (pet_id, quantity) select id, 5 from p)
      insert into orders default values`),
    [],
  );
});
afterAll(() => gateway.close());

/** Everything in the database, to check that a refused operation changed nothing. */
async function everything(): Promise<unknown[]> {
  const tables = ['categories', 'pets', 'orders', 'inventory'];
  const rows = tables.map((table) => `(select json_agg(t) from ${table} t)`).join(', ');
  return gateway.database.query(statement(`select json_build_array(${rows}) as rows`), []);
}

/** Expects the operation to be refused, as a whole or at its field, without effect. */
async function expectRefused(query: string, variables: object | undefined, expected: object): Promise<void> {
  const before = await everything();
  expect(await refusalOf(gateway, query, variables)).toMatchObject(expected);
  expect(await everything()).toEqual(before);
}

const BAD_INPUT = { code: 'BAD_USER_INPUT', status: 400 };

describe('an identifier', () => {
  const FIELDS = ['pet(id: $)', 'category(id: $)', 'order(id: $)', 'inventoryItem(petId: $)'];
  const query = (field: string, id: string) => `{ ${field.replace('$', id)} { __typename } }`;
  const queryWithVariable = (field: string) => `query ($id: ID!) ${query(field, '$id')}`;

  test.each(['1', '"1"'])('may be written %s', async (id) => {
    expect(await gateway.data(`{ pet(id: ${id}) { id } }`)).toEqual({ pet: { id: '1' } });
    expect(await gateway.data('query ($id: ID!) { pet(id: $id) { id } }', { id: JSON.parse(id) })).toEqual({
      pet: { id: '1' },
    });
  });

  test.each(FIELDS)('of %s may be as large as int64 allows, and then matches nothing', async (field) => {
    const largest = '9223372036854775807';
    for (const answer of [
      await gateway.graphql(query(field, largest)),
      await gateway.graphql(query(field, `"${largest}"`)),
      await gateway.graphql(queryWithVariable(field), { id: largest }),
    ]) {
      expect(answer).toMatchObject({ status: 200, data: { [field.split('(', 1).join()]: null }, errors: [] });
    }
  });

  const WRONG = ['0', '-1', '1.5', '9223372036854775808', '1e3', '1e400', 'true'];
  const WRONG_TEXT = ['abc', '', ' 1', '1 ', '01', '+1', '0x1', '１', '1n', '\u0000', '99999999999999999999'];
  test.each([...WRONG, 'abc', '[1]', '{}', ...[...WRONG, ...WRONG_TEXT].map((text) => JSON.stringify(text))])(
    'is refused when written %s',
    async (literal) => {
      for (const field of FIELDS) {
        expect(await refusalOf(gateway, query(field, literal))).toMatchObject({ http: 400, ...BAD_INPUT });
      }
    },
  );

  test.each([0, -1, 1.5, 1e21, true, [1], [], {}, ...WRONG, ...WRONG_TEXT, '\ud800'])(
    'is refused when its variable is %j',
    async (id) => {
      for (const field of FIELDS) {
        const refusal = await refusalOf(gateway, queryWithVariable(field), { id });
        const [, argument] = /\((\w+):/.exec(field) ?? [];
        expect(refusal).toMatchObject({ http: 400, ...BAD_INPUT, paths: [argument] });
      }
    },
  );

  test('is also refused in the form of a key id', async () => {
    for (const field of FIELDS) {
      expect(await refusalOf(gateway, query(field, '"abcdefghijkl"'))).toMatchObject(BAD_INPUT);
      expect(await refusalOf(gateway, queryWithVariable(field), { id: 'abcdefghijkl' })).toMatchObject(BAD_INPUT);
    }
  });

  test('is refused as a number beyond 2^53, which JSON may have rounded to another id', async () => {
    const id = 2 ** 53;
    await expectRefused(queryWithVariable('pet(id: $)'), { id }, { http: 400, ...BAD_INPUT, paths: ['id'] });
  });

  test.each([
    ['mutation ($id: ID!) { deletePet(id: $id) { id } }', 'id'],
    ['mutation ($id: ID!) { updatePet(id: $id, input: {}) { id } }', 'id'],
    ['mutation ($id: ID!) { createPet(input: { name: "Max", categoryId: $id }) { id } }', 'input.categoryId'],
    ['mutation ($id: ID!) { placeOrder(input: { petId: $id }) { id } }', 'input.petId'],
    ['mutation ($id: ID!) { setInventory(petId: $id, input: { quantity: 1 }) { quantity } }', 'petId'],
    ['query ($id: ID!) { pets(filter: { ids: [1, $id] }) { totalCount } }', 'filter.ids.1'],
    ['query ($id: ID!) { pets(filter: { categoryIds: [$id] }) { totalCount } }', 'filter.categoryIds.0'],
    ['query ($id: ID!) { orders(filter: { petIds: [$id] }) { totalCount } }', 'filter.petIds.0'],
  ])('follows the same rules in %s', async (query, path) => {
    for (const id of [0, 'abc', '9223372036854775808']) {
      await expectRefused(query, { id }, { http: 400, ...BAD_INPUT, paths: [path] });
    }
  });

  test('inside lists and inputs is reported with its path', async () => {
    const query = 'query ($filter: PetFilter) { pets(filter: $filter) { totalCount } }';
    const filter = { ids: [1, 0, '2', 'x'], categoryIds: ['9223372036854775808'] };
    await expectRefused(
      query,
      { filter },
      { ...BAD_INPUT, paths: ['filter.ids.1', 'filter.ids.3', 'filter.categoryIds.0'] },
    );
  });
});

describe('a name in a search', () => {
  test.each([
    ['NUL', 'a\0'],
    ['a lone surrogate', '\ud800'],
    ['256 characters', 'x'.repeat(256)],
  ])('is rejected with %s', async (_what, name) => {
    for (const list of ['pets', 'categories']) {
      const query = `query ($name: String!) { ${list}(filter: { name: $name }) { totalCount } }`;
      await expectRefused(query, { name }, { ...BAD_INPUT, paths: ['filter.name'] });
    }
  });

  test('is rejected together with the page', async () => {
    const query = 'query ($name: String!) { pets(first: 0, filter: { name: $name }) { totalCount } }';
    await expectRefused(query, { name: 'a\0' }, { ...BAD_INPUT, paths: ['filter.name', 'first'] });
  });
});

describe('a page size', () => {
  test.each([0, -1, 101, 2147483647])('cannot be %i', async (size) => {
    for (const list of ['pets', 'categories', 'orders', 'inventory']) {
      for (const end of ['first', 'last']) {
        await expectRefused(`{ ${list}(${end}: ${size}) { totalCount } }`, undefined, {
          ...BAD_INPUT,
          paths: [end],
        });
      }
    }
    await expectRefused(`{ pet(id: 1) { orders(first: ${size}) { totalCount } } }`, undefined, BAD_INPUT);
  });

  test.each(['10', 1.5, true, 2147483648])('cannot be %j', async (size) => {
    const query = 'query ($size: Int) { pets(first: $size) { totalCount } }';
    await expectRefused(query, { size }, { http: 400, ...BAD_INPUT, paths: ['first'] });
  });
});

test.each<[string, object[], string]>([
  ['{ a: pet(id: "x") { id } }', [{ line: 1, column: 14 }], 'id'],
  ['{ pets(filter: { ids: [1, true] }) { totalCount } }', [{ line: 1, column: 27 }], 'filter.ids.1'],
  ['mutation { placeOrder(input: { shipDate: "now" }) { id } }', [{ line: 1, column: 42 }], 'input.shipDate'],
  [
    'mutation { placeOrder(input: { shipDate: "0000-01-01T00:00:00Z" }) { id } }',
    [{ line: 1, column: 42 }],
    'input.shipDate',
  ],
])('an invalid literal is reported with its position: %s', async (query, locations, path) => {
  const { status, errors } = await gateway.graphql(query);
  expect(status).toBe(400);
  const details = [{ path, message: errors[0]?.message }];
  expect(errors).toMatchObject([{ locations, extensions: { ...BAD_INPUT, details } }]);
});

describe('an input', () => {
  const PET = 'mutation ($input: NewPet!) { createPet(input: $input) { id } }';
  const ORDER_UPDATE = 'mutation ($input: OrderUpdate!) { updateOrder(id: 1, input: $input) { id } }';
  const KEY = 'mutation ($input: NewApiKey!) { createApiKey(input: $input) { secret } }';

  const WRONG_ORDER = { quantity: 0, shipDate: 'tomorrow', petsId: 1 };
  const FAULTS = ['input.shipDate', 'input.petsId', 'input.quantity'];

  test.each<[string, string, unknown, string[]]>([
    ['nothing', PET, undefined, ['input']],
    ['null', PET, null, ['input']],
    ['a list', PET, [], ['input']],
    ['a text', PET, '{}', ['input']],
    [
      'an id, which the service assigns',
      PET,
      { id: 1, name: 'Rex', categoryId: 1 },
      ['input.id is not a field of NewPet'],
    ],
    [
      'limits of a key beside an unknown plan',
      KEY,
      { name: ' ', plan: 'GOLD', perMinute: 0 },
      ['input.plan', 'input.name', 'input.perMinute'],
    ],
  ])('of %s is refused before anything runs, and every fault is reported', async (_what, query, input, named) => {
    const before = await everything();
    const { details, ...refusal } = await refusalOf(gateway, query, { input });
    expect(refusal).toMatchObject({ http: 400, ...BAD_INPUT });
    expect(details).toHaveLength(named.length);
    for (const [index, name] of named.entries()) {
      expect(`${details[index]?.path} ${details[index]?.message}`).toContain(name);
      expect(refusal.message).toContain(details[index]?.message);
    }
    expect(await everything()).toEqual(before);
  });

  test.each<[string, string, object, string[]]>([
    ['another name', 'mutation ($i: NewOrder!) { placeOrder(input: $i) { id } }', { i: WRONG_ORDER }, FAULTS],
    [
      'the same argument of several fields',
      'mutation ($i: NewOrder!) { a: placeOrder(input: $i) { id } b: placeOrder(input: $i) { id } }',
      { i: WRONG_ORDER },
      FAULTS,
    ],
    [
      'a field of the argument',
      'mutation ($q: Int, $d: DateTime) { placeOrder(input: { quantity: $q, shipDate: $d }) { id } }',
      { q: 0, d: 'tomorrow' },
      ['input.quantity', 'input.shipDate'],
    ],
    [
      'an argument in a fragment',
      'query ($n: Int, $a: ID!) { pets { nodes { ...F } } pet(id: $a) { id } } fragment F on Pet { orders(first: $n) { totalCount } }',
      { n: 0, a: 'x' },
      ['first', 'id'],
    ],
    ['nothing, missing', 'mutation ($i: NewOrder!) { placeOrder(input: $i) { id } }', {}, ['input']],
    [
      'different arguments, has its own name',
      'query ($x: ID!) { pet(id: $x) { id } inventoryItem(petId: $x) { petId } }',
      { x: 'abc' },
      ['x'],
    ],
  ])('by a variable for %s is refused at the path of its argument', async (_what, query, variables, paths) => {
    const refusal = await refusalOf(gateway, query, variables);
    expect(refusal).toMatchObject({ http: 400, ...BAD_INPUT, paths });
  });

  test('of several values that break their rules is refused with all of them', async () => {
    await expectRefused(
      ORDER_UPDATE,
      { input: { quantity: 0, complete: null } },
      { ...BAD_INPUT, paths: ['input.quantity', 'input.complete'] },
    );
  });

  const faulty: [query: string, variables: object, paths: string[]][] = [
    [
      'mutation ($name: String!, $status: PetStatus) { createPet(input: { name: $name, categoryId: 1, status: $status }) { id } }',
      { name: '', status: 'gone' },
      ['input.name', 'input.status'],
    ],
    [
      'query ($first: Int, $name: String, $id: [ID!]) { pets(first: $first, filter: { name: $name, ids: $id }) { totalCount } }',
      { first: 0, name: 'x'.repeat(256), id: 'x' },
      ['first', 'filter.name', 'filter.ids'],
    ],
  ];
  test.each(faulty.map((row) => titled(row)))(
    'whose fields are variables reports the faults of all: %s…',
    async (_title, query, variables, paths) => {
      await expectRefused(query, variables, { http: 400, ...BAD_INPUT, paths });
    },
  );
});
