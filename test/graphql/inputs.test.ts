import { everyRow, fillShop } from '../helper/database';
import { type Gateway, startGateway } from '../helper/gateway';
import { refusalOf } from '../helper/refusal';

let gateway: Gateway;
let before: string;
beforeAll(async () => {
  gateway = await startGateway();
  await fillShop(gateway.database);
  before = await everyRow(gateway.database);
});
// No operation of this file may change any data.
afterEach(async () => expect(await everyRow(gateway.database)).toBe(before));
afterAll(() => gateway.close());

const BAD_INPUT = { code: 'BAD_USER_INPUT', status: 400 };
const WRONG = { quantity: 0, shipDate: 'tomorrow', petsId: 1 };
const FAULTS = ['input.shipDate', 'input.petsId', 'input.quantity'];
const PLACE = 'mutation ($input: NewOrder!) { placeOrder(input: $input) { id } }';

test.each(Object.getOwnPropertyNames(Object.prototype))('a variable $%s without a value is absent', async (name) => {
  const query = `query ($${name}: [ID!]) { pets(filter: { ids: $${name} }) { totalCount } }`;
  const { status, data } = await gateway.graphql(query);
  expect([status, data]).toEqual([200, { pets: { totalCount: 3 } }]);
  const required = await gateway.graphql(`query ($${name}: [ID!]!) { pets(filter: { ids: $${name} }) { totalCount } }`);
  expect(required.errors).toMatchObject([{ extensions: BAD_INPUT }]);
});

test.each<[string, number, string]>([
  ['{ a: pet(id: "x") { id } }', 14, 'id'],
  ['{ pets(filter: { ids: [1, true] }) { totalCount } }', 27, 'filter.ids.1'],
  ['mutation { placeOrder(input: { shipDate: "now" }) { id } }', 42, 'input.shipDate'],
  ['mutation { placeOrder(input: { shipDate: "0000-01-01T00:00:00Z" }) { id } }', 42, 'input.shipDate'],
])('an invalid literal is reported with its position: %s', async (query, column, path) => {
  const { status, errors } = await gateway.graphql(query);
  expect(status).toBe(400);
  const details = [{ path, message: errors[0]?.message.replace(`${path}: `, '') }];
  expect(errors).toMatchObject([{ locations: [{ line: 1, column }], extensions: { ...BAD_INPUT, details } }]);
});

test.each<[string, string[]]>([
  [
    'mutation { placeOrder(input: { petId: "UGV0OjE", quantity: 0, shipDate: "now" }) { id } }',
    ['input.petId', 'input.shipDate', 'input.quantity'],
  ],
  [
    'mutation { createPet(input: { name: "", categoryId: "UGV0OjE", status: null }) { id } }',
    ['input.categoryId', 'input.name', 'input.status'],
  ],
  ['mutation { adjustInventory(petId: "x", by: 0) { petId } }', ['petId', 'by']],
  ['{ pets(first: 101, after: "x", filter: { ids: [0] }) { totalCount } }', ['filter.ids.0', 'first', 'after']],
])('an invalid literal is reported beside all others: %s', async (query, paths) => {
  const { status, errors } = await gateway.graphql(query);
  expect(status).toBe(400);
  const named = errors.flatMap(({ extensions }) => extensions?.details as { path: string }[]);
  expect(named.map(({ path }) => path).toSorted()).toEqual(paths.toSorted());
});

describe('an invalid variable is rejected before the operation runs, and all its errors are reported:', () => {
  const PET = 'mutation ($input: NewPet!) { createPet(input: $input) { id } }';
  const KEY = 'mutation ($input: NewApiKey!) { createApiKey(input: $input) { secret } }';
  test.each<[string, string, unknown, string[]]>([
    ['missing', PET, undefined, ['input']],
    ['null', PET, null, ['input']],
    ['a list', PET, [], ['input']],
    ['a string', PET, '{}', ['input']],
    [
      'the id, which the service assigns',
      PET,
      { id: 1, name: 'a', categoryId: 1 },
      ['input.id is not a field of NewPet'],
    ],
    [
      'an unknown plan, an empty name and an invalid limit',
      KEY,
      { name: ' ', plan: 'GOLD', perMinute: 0 },
      ['input.plan', 'input.name', 'input.perMinute'],
    ],
  ])('%s', async (_what, query, input, named) => {
    const { details, ...refusal } = await refusalOf(gateway, query, { input });
    expect(refusal).toMatchObject({ http: 400, ...BAD_INPUT });
    expect(details).toHaveLength(named.length);
    for (const [index, name] of named.entries()) {
      expect(`${details[index]?.path} ${details[index]?.message}`).toContain(name);
      expect(refusal.message).toContain(details[index]?.message);
    }
  });
});

describe('an error in a variable has the path of the argument that takes the variable:', () => {
  test.each<[string, string, object, string[]]>([
    ['an argument whose name differs from the variable', PLACE.replaceAll('$input', '$i'), { i: WRONG }, FAULTS],
    [
      'the same argument of several fields',
      'mutation ($i: NewOrder!) { a: placeOrder(input: $i) { id } b: placeOrder(input: $i) { id } }',
      { i: WRONG },
      FAULTS,
    ],
    [
      'a field of the argument',
      'mutation ($q: Int, $d: DateTime) { placeOrder(input: { quantity: $q, shipDate: $d }) { id } }',
      { q: 0, d: 'tomorrow' },
      ['input.quantity', 'input.shipDate'],
    ],
    [
      'fields of the argument, some with a wrong type',
      `mutation ($name: String!, $status: PetStatus) {
        createPet(input: { name: $name, categoryId: 1, status: $status }) { id }
      }`,
      { name: '', status: 'gone' },
      ['input.name', 'input.status'],
    ],
    [
      'arguments and fields of a filter',
      `query ($first: Int, $name: String, $id: [ID!]) {
        pets(first: $first, filter: { name: $name, ids: $id }) { totalCount }
      }`,
      { first: 0, name: 'x'.repeat(256), id: 'x' },
      ['first', 'filter.name', 'filter.ids'],
    ],
    [
      'cursors beside other arguments',
      `query ($id: [ID!], $n: Int, $a: String, $b: String) {
        pets(filter: { ids: $id }, first: $n, after: $a, before: $b) { totalCount }
      }`,
      { id: 'x', n: 500, a: 'x', b: '' },
      ['filter.ids', 'first', 'after', 'before'],
    ],
    [
      'a cursor of the change feed beside other arguments',
      'query ($t: [EventTopic!], $n: Int, $a: String) { events(topics: $t, first: $n, after: $a) { nodes { id } } }',
      { t: 'DOG', n: 0, a: 'now-101' },
      ['topics', 'first', 'after'],
    ],
    [
      'numbers beside ids',
      `mutation ($id: ID!, $by: Int!, $key: ID!, $grace: Int!) {
        adjustInventory(petId: $id, by: $by) { petId }
        rotateApiKey(id: $key, graceSeconds: $grace) { secret }
      }`,
      { id: 'UGV0OjE', by: 0, key: '?', grace: -1 },
      ['petId', 'by', 'id', 'graceSeconds'],
    ],
    [
      'items of lists',
      'query ($filter: PetFilter) { pets(filter: $filter) { totalCount } }',
      { filter: { ids: [1, 0, '2', 'x'], categoryIds: ['9223372036854775808'] } },
      ['filter.ids.1', 'filter.ids.3', 'filter.categoryIds.0'],
    ],
    [
      'an argument in a fragment',
      `query ($n: Int, $a: ID!) { pets { nodes { ...F } } pet(id: $a) { id } }
        fragment F on Pet { orders(first: $n) { totalCount } }`,
      { n: 0, a: 'x' },
      ['first', 'id'],
    ],
    ['a missing variable', PLACE.replaceAll('$input', '$i'), {}, ['input']],
    [
      'several missing variables',
      'query ($a: ID!, $b: Int!) { pet(id: $a) { id } pets(first: $b) { totalCount } }',
      {},
      ['id', 'first'],
    ],
    [
      'or the name of the variable, if arguments with different names take the variable',
      'query ($x: ID!) { pet(id: $x) { id } inventoryItem(petId: $x) { petId } }',
      { x: 'abc' },
      ['x'],
    ],
  ])('%s', async (_what, query, variables, paths) => {
    expect(await refusalOf(gateway, query, variables)).toMatchObject({ http: 400, ...BAD_INPUT, paths });
  });
});

test('variables may have default values, and undeclared variables are ignored', async () => {
  const query = 'query ($id: ID! = 2) { pet(id: $id) { name } }';
  expect(await gateway.data(query, { other: 5 })).toEqual({ pet: { name: 'Bello' } });
  expect(await gateway.data(query, { id: 1 })).toEqual({ pet: { name: 'Rex' } });
});

test.each<[string, string, object?]>([
  ['a field', '{ pets { nodez { id } } }'],
  ['a type', '{ pet(id: 1) { ... on Pets { id } } }'],
  ['an argument', '{ pets(firstt: 1) { totalCount } }'],
  ['an enum value', '{ pets(filter: { statuses: [availible] }) { totalCount } }'],
  ['an input field', '{ pets(filter: { statusess: sold }) { totalCount } }'],
  [
    'an enum value in a variable',
    'query ($f: PetFilter) { pets(filter: $f) { totalCount } }',
    { f: { statuses: ['availible'] } },
  ],
  [
    'an input field in a variable',
    'query ($f: PetFilter) { pets(filter: $f) { totalCount } }',
    { f: { statuss: 'sold' } },
  ],
])(
  'correct names are suggested for a misspelled name of %s, even in production and without a key',
  async (_what, query, variables = {}) => {
    const production = await gateway.another({ NODE_ENV: 'production', ANONYMOUS_ACCESS: 'read' });
    const { errors } = await production.graphql(query, variables, { 'x-api-key': undefined });
    await production.close();
    expect(JSON.stringify(errors)).toContain('Did you mean');
  },
);
