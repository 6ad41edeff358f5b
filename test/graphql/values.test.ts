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

describe('a name', () => {
  const MUTATIONS = [
    'mutation ($text: String!) { made: createPet(input: { name: $text, categoryId: 1 }) { name } }',
    'mutation ($text: String!) { made: updatePet(id: 1, input: { name: $text }) { name } }',
    'mutation ($text: String!) { made: createCategory(input: { name: $text }) { name } }',
    'mutation ($text: String!) { made: updateCategory(id: 1, input: { name: $text }) { name } }',
  ];

  test.each<[string, string, string]>([
    ['one character', 'x', 'x'],
    ['255 characters', 'x'.repeat(255), 'x'.repeat(255)],
    ['255 emoji', '🐕'.repeat(255), '🐕'.repeat(255)],
    ['255 characters once trimmed', ` \n${'x'.repeat(255)}\u00a0\u3000`, 'x'.repeat(255)],
    ['inner spaces, quotes and SQL', `a  b'"; drop table pets --`, `a  b'"; drop table pets --`],
    ['other control characters', 'a\u0001b', 'a\u0001b'],
    ['an emoji of several code points', '👩‍👩‍👧‍👦', '👩‍👩‍👧‍👦'],
  ])('may have %s', async (_what, text, kept) => {
    for (const mutation of MUTATIONS) {
      expect(await gateway.data(mutation, { text })).toEqual({ made: { name: kept } });
    }
  });

  test.each<[string, string]>([
    ['no character', ''],
    ['only whitespace', ' \t\r\n\u00a0\u2003\u3000\ufeff'],
    ['256 characters', 'x'.repeat(256)],
    ['256 emoji', '🐕'.repeat(256)],
    ['256 characters after blanks', ` ${'x'.repeat(256)}`],
    ['NUL', 'a\0b'],
    ['a lone high surrogate', '\ud800'],
    ['a lone low surrogate', 'a\udc00b'],
    ['surrogates in the wrong order', '\udc36\ud83d'],
  ])('is refused with %s', async (_what, text) => {
    for (const mutation of MUTATIONS) {
      await expectRefused(mutation, { text }, { ...BAD_INPUT, paths: ['input.name'] });
    }
  });

  test.each([
    ['NUL', 'a\0'],
    ['a lone surrogate', '\ud800'],
    ['256 characters', 'x'.repeat(256)],
  ])('in a search is refused with %s', async (_what, name) => {
    for (const list of ['pets', 'categories']) {
      const query = `query ($name: String!) { ${list}(filter: { name: $name }) { totalCount } }`;
      await expectRefused(query, { name }, { ...BAD_INPUT, paths: ['filter.name'] });
    }
  });

  test('in a search is refused together with the page', async () => {
    const query = 'query ($name: String!) { pets(first: 0, filter: { name: $name }) { totalCount } }';
    await expectRefused(query, { name: 'a\0' }, { ...BAD_INPUT, paths: ['filter.name', 'first'] });
  });
});

describe('a description', () => {
  const MUTATIONS = [
    'mutation ($text: String!) { made: createCategory(input: { name: "Cats", description: $text }) { description } }',
    'mutation ($text: String!) { made: updateCategory(id: 1, input: { description: $text }) { description } }',
  ];

  test.each<[string, string, string]>([
    ['2000 emoji', '🐈'.repeat(2000), '🐈'.repeat(2000)],
    ['surrounding whitespace, which is trimmed', '\n They purr. ', 'They purr.'],
    ['lines', 'They purr.\nThey sleep.', 'They purr.\nThey sleep.'],
  ])('may have %s', async (_what, text, kept) => {
    for (const mutation of MUTATIONS) {
      expect(await gateway.data(mutation, { text })).toEqual({ made: { description: kept } });
    }
  });

  test.each([
    ['2001 characters', 'x'.repeat(2001)],
    ['2001 emoji', '🐈'.repeat(2001)],
    ['NUL', '\0'],
    ['a lone surrogate', 'a\ud800'],
  ])('is refused with %s', async (_what, text) => {
    for (const mutation of MUTATIONS) {
      await expectRefused(mutation, { text }, { ...BAD_INPUT, paths: ['input.description'] });
    }
  });

  test('and a name that are both invalid are both reported', async () => {
    const query = 'mutation ($input: NewCategory!) { createCategory(input: $input) { id } }';
    const input = { name: ' ', description: '\0\ud800' };
    await expectRefused(
      query,
      { input },
      {
        ...BAD_INPUT,
        paths: ['input.name', 'input.description', 'input.description'],
      },
    );
  });
});

describe('a quantity', () => {
  const MUTATIONS = {
    placeOrder: '($) { placeOrder(input: { quantity: # }) { quantity } }',
    updateOrder: '($) { updateOrder(id: 1, input: { quantity: # }) { quantity } }',
    setInventory: '($) { setInventory(petId: 1, input: { quantity: # }) { quantity } }',
  };
  const withVariable = (mutation: string) => `mutation ${mutation.replace('$', '$q: Int!').replace('#', '$q')}`;
  const withLiteral = (mutation: string, literal: string) =>
    `mutation ${mutation.replace('($) ', '').replace('#', literal)}`;

  test.each([1, 2147483647])('may be %i', async (q) => {
    for (const [name, mutation] of Object.entries(MUTATIONS)) {
      expect(await gateway.data(withVariable(mutation), { q })).toEqual({ [name]: { quantity: q } });
      expect(await gateway.data(withLiteral(mutation, String(q)))).toEqual({ [name]: { quantity: q } });
    }
  });

  test('cannot be 0 in an order, but can be 0 in stock', async () => {
    for (const mutation of [MUTATIONS.placeOrder, MUTATIONS.updateOrder]) {
      await expectRefused(withVariable(mutation), { q: 0 }, { http: 200, ...BAD_INPUT, paths: ['input.quantity'] });
    }
    expect(await gateway.data(withVariable(MUTATIONS.setInventory), { q: 0 })).toEqual({
      setInventory: { quantity: 0 },
    });
  });

  test('cannot be negative', async () => {
    for (const mutation of Object.values(MUTATIONS)) {
      await expectRefused(withVariable(mutation), { q: -1 }, { http: 200, ...BAD_INPUT, paths: ['input.quantity'] });
      await expectRefused(withLiteral(mutation, '-1'), undefined, {
        http: 200,
        ...BAD_INPUT,
        paths: ['input.quantity'],
      });
    }
  });

  test.each([2147483648, -2147483649, 1.5, '1', '', true, [1, 2], {}])('cannot be %j', async (q) => {
    for (const mutation of Object.values(MUTATIONS)) {
      await expectRefused(withVariable(mutation), { q }, { http: 400, ...BAD_INPUT, paths: ['input.quantity'] });
      if (typeof q === 'object') continue;
      await expectRefused(withLiteral(mutation, JSON.stringify(q)), undefined, { http: 400, status: 400 });
    }
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

describe('a ship date', () => {
  const PLACE = 'mutation ($date: DateTime!) { placeOrder(input: { shipDate: $date }) { id shipDate } }';
  const UPDATE = 'mutation ($date: DateTime!) { updateOrder(id: 1, input: { shipDate: $date }) { id shipDate } }';

  test.each([
    ['2026-11-21T09:30:00Z', '2026-11-21T09:30:00.000Z'],
    ['2026-11-21T09:30:00.5Z', '2026-11-21T09:30:00.500Z'],
    ['2026-11-21T09:30:00.123456789Z', '2026-11-21T09:30:00.123Z'],
    ['2026-11-21T09:30:00.9999Z', '2026-11-21T09:30:00.999Z'],
    ['2026-11-21t09:30:00z', '2026-11-21T09:30:00.000Z'],
    ['2026-11-21T09:30:00+05:30', '2026-11-21T04:00:00.000Z'],
    ['2026-11-21T09:30:00-00:00', '2026-11-21T09:30:00.000Z'],
    ['2027-01-01T00:30:00+01:00', '2026-12-31T23:30:00.000Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
    ['1850-06-01T12:00:00Z', '1850-06-01T12:00:00.000Z'],
    ['0050-06-01T12:00:00Z', '0050-06-01T12:00:00.000Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ])('%s is stored and returned as %s', async (date, kept) => {
    const { placeOrder } = await gateway.data(PLACE, { date });
    expect(placeOrder?.shipDate).toBe(kept);
    expect((await gateway.data(UPDATE, { date })).updateOrder).toEqual({ id: '1', shipDate: kept });
    const literal = await gateway.data(`mutation { placeOrder(input: { shipDate: "${date}" }) { id } }`);
    for (const id of [placeOrder?.id, '1', literal.placeOrder?.id]) {
      expect(await gateway.data(`{ order(id: ${id}) { shipDate } }`)).toEqual({ order: { shipDate: kept } });
    }
  });

  test.each([
    '2026-02-30T00:00:00Z',
    '2025-02-29T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-00-10T00:00:00Z',
    '2026-11-21T24:00:00Z',
    '2026-11-21T09:60:00Z',
    '2026-11-21T09:30:00',
    '2026-11-21T09:30Z',
    '2026-11-21T09:30:00.Z',
    '2026-11-21T09:30:00+0100',
    '2026-11-21T09:30:00+24:00',
    '2026-11-21 09:30:00Z',
    '2026-11-21',
    '20261121T093000Z',
    '0000-01-01T00:00:00Z',
    '0001-01-01T00:00:00+01:00',
    '10000-01-01T00:00:00Z',
    '+10000-01-01T00:00:00Z',
    '9999-12-31T23:59:59-01:00',
    '-0001-01-01T00:00:00Z',
    'now',
    'infinity',
    '',
  ])('cannot be %j', async (date) => {
    await expectRefused(PLACE, { date }, { http: 400, ...BAD_INPUT, paths: ['input.shipDate'] });
    await expectRefused(UPDATE, { date }, { http: 400, ...BAD_INPUT, paths: ['input.shipDate'] });
    const literal = `mutation { placeOrder(input: { shipDate: ${JSON.stringify(date)} }) { id } }`;
    await expectRefused(literal, undefined, { http: 400, ...BAD_INPUT });
  });

  test.each([1764000000000, true, {}, ['2026-11-21T09:30:00Z']])('cannot be %j', async (date) => {
    await expectRefused(PLACE, { date }, { http: 400, ...BAD_INPUT, paths: ['input.shipDate'] });
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
  const PET_UPDATE = 'mutation ($input: PetUpdate!) { updatePet(id: 1, input: $input) { id } }';
  const CATEGORY = 'mutation ($input: NewCategory!) { createCategory(input: $input) { id } }';
  const CATEGORY_UPDATE = 'mutation ($input: CategoryUpdate!) { updateCategory(id: 1, input: $input) { id } }';
  const ORDER = 'mutation ($input: NewOrder!) { placeOrder(input: $input) { id } }';
  const ORDER_UPDATE = 'mutation ($input: OrderUpdate!) { updateOrder(id: 1, input: $input) { id } }';
  const STOCK = 'mutation ($input: InventoryUpdate!) { setInventory(petId: 1, input: $input) { petId } }';
  const KEY = 'mutation ($input: NewApiKey!) { createApiKey(input: $input) { secret } }';

  const WRONG_ORDER = { quantity: 0, shipDate: 'tomorrow', petsId: 1 };
  const FAULTS = ['input.shipDate', 'input.petsId', 'input.quantity'];

  test.each<[string, string, unknown, string[]]>([
    ['nothing', PET, undefined, ['input']],
    ['null', PET, null, ['input']],
    ['a list', PET, [], ['input']],
    ['a text', PET, '{}', ['input']],
    ['missing fields', PET, {}, ['input.name is required', 'input.categoryId is required']],
    ['null for required fields', PET, { name: null, categoryId: null }, ['input.name', 'input.categoryId']],
    [
      'wrong types',
      PET,
      { name: 5, categoryId: [1], status: 'dead' },
      ['input.name', 'input.categoryId', 'input.status'],
    ],
    ['a status in upper case', PET, { name: 'Rex', categoryId: 1, status: 'SOLD' }, ['input.status']],
    ['an unknown field', PET, { name: 'Rex', categoryId: 1, colour: 'red' }, ['input.colour is not a field of NewPet']],
    [
      'an id, which the service assigns',
      PET,
      { id: 1, name: 'Rex', categoryId: 1 },
      ['input.id is not a field of NewPet'],
    ],
    [
      'wrong types of optional fields',
      ORDER,
      { quantity: 'two', complete: 'yes', shipDate: 5 },
      ['input.quantity', 'input.shipDate', 'input.complete'],
    ],
    // a wrong type hides no broken rule
    [
      'an empty name beside an unknown status',
      PET,
      { name: '', categoryId: 1, status: 'gone' },
      ['input.status', 'input.name'],
    ],
    [
      'two broken rules beside a wrong type',
      PET_UPDATE,
      { name: 'x'.repeat(256), categoryId: null, status: 'gone' },
      ['input.status', 'input.name', 'input.categoryId'],
    ],
    [
      'a description that is too long beside a missing name',
      CATEGORY,
      { description: 'x'.repeat(2001) },
      ['input.name', 'input.description'],
    ],
    [
      'no name beside a description that is no text',
      CATEGORY_UPDATE,
      { name: null, description: 5 },
      ['input.description', 'input.name'],
    ],
    [
      'no units beside a date that is none',
      ORDER,
      { quantity: 0, shipDate: 'tomorrow' },
      ['input.shipDate', 'input.quantity'],
    ],
    [
      'no units and a null beside a wrong type',
      ORDER_UPDATE,
      { quantity: 0, complete: null, petId: 'x' },
      ['input.petId', 'input.quantity', 'input.complete'],
    ],
    [
      'a negative stock beside an unknown field',
      STOCK,
      { quantity: -1, colour: 'red' },
      ['input.colour', 'input.quantity'],
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
