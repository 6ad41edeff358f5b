import { everyRow, fillShop } from '../helper/database';
import { type Gateway, startGateway } from '../helper/gateway';
import { refusalOf } from '../helper/refusal';
import { titled } from '../helper/titled';
import { send } from '../rest/client';
import { CATEGORIES, clientOf, INTERFACES, ORDERS, PETS, type Refusal } from './clients';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
  // Order 1 has taken 2 units of pet 1, of which 3 are left.
  await fillShop(gateway.database);
});
afterAll(() => gateway.close());

const LARGEST = 2147483647;
const REQUIRED = { rule: 'REQUIRED' };
const TYPE = { rule: 'TYPE' };
const ID_RANGE = { rule: 'OUT_OF_RANGE', params: { min: 1 } };
const UNITS = { rule: 'OUT_OF_RANGE', params: { min: 1, max: LARGEST } };
const exceeds = (available: number) => ({ rule: 'EXCEEDS_STOCK', params: { available } });

/** The path, rule and params of each detail, without the message. */
const rulesIn = ({ details }: Pick<Refusal, 'details'>) => details.map(({ message: _, ...rest }) => rest);

describe.each(INTERFACES)('over %s', (name) => {
  const pets = clientOf(name, () => gateway, PETS);
  const categories = clientOf(name, () => gateway, CATEGORIES);
  const orders = clientOf(name, () => gateway, ORDERS);

  const cases: [string, () => Promise<unknown>, ...object[]][] = [
    ['an absent field', () => pets.create({ categoryId: 1 }), { path: 'name', ...REQUIRED }],
    ['a null', () => pets.create({ name: null, categoryId: 1 }), { path: 'name', ...REQUIRED }],
    ['a null in an update', () => pets.update(1, { status: null }), { path: 'status', ...REQUIRED }],
    [
      'values of other types',
      () => pets.create({ name: 5, categoryId: 'x', status: 'gone' }),
      { path: 'name', ...TYPE },
      { path: 'categoryId', ...TYPE },
      { path: 'status', ...TYPE },
    ],
    [
      'a date that does not exist',
      () => orders.create({ shipDate: '2026-02-30T00:00:00Z' }),
      { path: 'shipDate', ...TYPE },
    ],
    ['an id with a fraction', () => orders.create({ petId: 1.5 }), { path: 'petId', ...TYPE }],
    ['an id of 0', () => orders.create({ petId: 0 }), { path: 'petId', ...ID_RANGE }],
    ['a negative id', () => orders.create({ petId: -1 }), { path: 'petId', ...ID_RANGE }],
    ['a nodeId', () => pets.create({ name: 'Mia', categoryId: 'UGV0OjE' }), { path: 'categoryId', ...TYPE }],
    [
      'a nodeId beside other faults',
      () => pets.create({ name: '', categoryId: 'UGV0OjE' }),
      { path: 'categoryId', ...TYPE },
      { path: 'name', rule: 'TOO_SHORT', params: { min: 1 } },
    ],
    ['a blank name', () => categories.create({ name: ' ' }), { path: 'name', rule: 'TOO_SHORT', params: { min: 1 } }],
    [
      'texts that are too long',
      () => categories.create({ name: 'x'.repeat(256), description: 'x'.repeat(2001) }),
      { path: 'name', rule: 'TOO_LONG', params: { max: 255 } },
      { path: 'description', rule: 'TOO_LONG', params: { max: 2000 } },
    ],
    ['a quantity of 0', () => orders.create({ quantity: 0 }), { path: 'quantity', ...UNITS }],
    ['a fault without a rule', () => categories.create({ name: 'a\0' }), { path: 'name' }],
    ['an unknown pet', () => orders.create({ petId: 99 }), { path: 'petId' }],
    ['an order of too many units', () => orders.create({ petId: 1, quantity: 4 }), { path: 'quantity', ...exceeds(3) }],
    ['a change to too many units', () => orders.update(1, { quantity: 6 }), { path: 'quantity', ...exceeds(5) }],
  ];
  test.each(cases.map((row) => titled(row, 1)))(
    'details name the rule and its values: %s',
    async (_title, _what, run, ...details) => {
      const before = await everyRow(gateway.database);
      const refusal = rulesIn((await run()) as Refusal);
      const byPath = (a: object, b: object) => JSON.stringify(a).localeCompare(JSON.stringify(b));
      expect(refusal.sort(byPath)).toEqual(details.sort(byPath));
      expect(await everyRow(gateway.database)).toBe(before);
    },
  );

  test.each([
    [
      'the fields of an order',
      () => orders.create({ petId: null, quantity: null, shipDate: null, complete: null }),
      ['petId', 'quantity', 'shipDate', 'complete'],
    ],
    ['the status of a pet', () => pets.create({ name: 'Mia', categoryId: 1, status: null }), ['status']],
  ] as const)('null is rejected for %s when it is created', async (_what, create, paths) => {
    const before = await everyRow(gateway.database);
    expect(rulesIn((await create()) as Refusal)).toEqual(paths.map((path) => ({ path, ...REQUIRED })));
    expect(await everyRow(gateway.database)).toBe(before);
  });

  test('null is accepted for the description of a new category, and means none', async () => {
    expect(await categories.create({ name: 'Birds', description: null })).toMatchObject({ description: null });
  });
});

test.each([
  ['PUT /pets/1', { name: 'Rex', categoryId: 1, status: null }, ['status']],
  ['PUT /categories/1', { name: null }, ['name']],
])('%s rejects null: %j', async (on, body, paths) => {
  const { status, json } = await send(gateway, on, body);
  expect([status, rulesIn(json as Refusal)]).toEqual([400, paths.map((path) => ({ path, ...REQUIRED }))]);
});

test('PUT accepts a null description, and removes the description', async () => {
  expect(await send(gateway, 'PUT /categories/2', { name: 'Cats', description: null })).toMatchObject({
    status: 200,
    json: { id: 2, name: 'Cats' },
  });
});

describe('parameters in REST', () => {
  test.each<[string, object]>([
    ['/pets?limit=0', { path: 'limit', rule: 'OUT_OF_RANGE', params: { min: 1, max: 100 } }],
    ['/pets?limit=101', { path: 'limit', rule: 'OUT_OF_RANGE', params: { min: 1, max: 100 } }],
    ['/pets?limit=99999999999', { path: 'limit', rule: 'OUT_OF_RANGE', params: { min: 1, max: 100 } }],
    ['/pets?limit=many', { path: 'limit', ...TYPE }],
    ['/pets?sort=age', { path: 'sort', ...TYPE }],
    ['/pets?status=gone', { path: 'status', ...TYPE }],
    ['/pets?id=1&id=0', { path: 'id.1', ...ID_RANGE }],
    ['/pets/0', { path: 'petId', ...ID_RANGE }],
    ['/pets/9223372036854775808', { path: 'petId', ...ID_RANGE }],
    ['/pets/007', { path: 'petId', ...TYPE }],
    ['/pets/UGV0OjE', { path: 'petId', ...TYPE }],
    ['/store/orders?complete=1', { path: 'complete', ...TYPE }],
    ['/pets?cursor=x', { path: 'cursor' }],
    ['/pets?colour=red', { path: 'colour' }],
    [`/pets?name=${'x'.repeat(256)}`, { path: 'name', rule: 'TOO_LONG', params: { max: 255 } }],
  ])('%s', async (path, detail) => {
    const { status, json } = await send(gateway, `GET ${path}`);
    expect([status, rulesIn(json as Refusal)]).toEqual([400, [detail]]);
  });

  test('an integer beyond int32 in a body is out of range', async () => {
    const { json } = await send(gateway, 'POST /store/orders', { quantity: LARGEST + 1 });
    expect(rulesIn(json as Refusal)).toEqual([{ path: 'quantity', ...UNITS }]);
  });

  test('an id of 2^63 in a body is out of range', async () => {
    const { json } = await send(gateway, 'POST /store/orders', '{"petId":9223372036854775808}');
    expect(rulesIn(json as Refusal)).toEqual([{ path: 'petId', ...ID_RANGE }]);
  });
});

describe('arguments in GraphQL', () => {
  test.each<[string, object | undefined, object]>([
    ['query ($q: ID!) { pet(id: $q) { id } }', {}, { path: 'id', ...REQUIRED }],
    ['query ($q: ID!) { pet(id: $q) { id } }', { q: null }, { path: 'id', ...REQUIRED }],
    ['query ($q: ID!) { pet(id: $q) { id } }', { q: '9223372036854775808' }, { path: 'id', ...ID_RANGE }],
    ['query ($q: ID!) { pet(id: $q) { id } }', { q: 2 ** 60 }, { path: 'id', ...TYPE }],
    ['query ($q: ID!) { pet(id: $q) { id } }', { q: 2 ** 70 }, { path: 'id', ...ID_RANGE }],
    ['query ($q: ID!) { pet(id: $q) { id } }', { q: 'UGV0OjE' }, { path: 'id', ...TYPE }],
    ['query ($q: ID! = "UGV0OjE") { pet(id: $q) { id } }', {}, { path: 'id', ...TYPE }],
    ['query ($q: ID!) { pet(id: $q) { id } }', { q: 'abcdefghijkl' }, { path: 'id', ...TYPE }],
    ['{ pet(id: 0) { id } }', undefined, { path: 'id', ...ID_RANGE }],
    ['{ pet(id: "UGV0OjE") { id } }', undefined, { path: 'id', ...TYPE }],
    ['{ pets(filter: { ids: [1, "UGV0OjE"] }) { totalCount } }', undefined, { path: 'filter.ids.1', ...TYPE }],
    [
      'query ($q: ID!) { pets(filter: { ids: [1, $q] }) { totalCount } }',
      { q: 'UGV0OjE' },
      { path: 'filter.ids.1', ...TYPE },
    ],
    [
      'query ($q: PetFilter) { pets(filter: $q) { totalCount } }',
      { q: { ids: ['UGV0OjE'] } },
      { path: 'filter.ids.0', ...TYPE },
    ],
    ['{ node(id: "7") { nodeId } }', undefined, { path: 'id', ...TYPE }],
    ['{ nodes(ids: ["UGV0OjE", "x"]) { nodeId } }', undefined, { path: 'ids.1', ...TYPE }],
    ['query ($q: ID!) { nodes(ids: ["UGV0OjE", $q]) { nodeId } }', { q: '7' }, { path: 'ids.1', ...TYPE }],
    ['{ apiKey(id: "UGV0OjE") { id } }', undefined, { path: 'id', ...TYPE }],
    ['query ($q: ID!) { apiKey(id: $q) { id } }', { q: '1' }, { path: 'id', ...TYPE }],
    [
      '{ pets(first: 0) { totalCount } }',
      undefined,
      { path: 'first', rule: 'OUT_OF_RANGE', params: { min: 1, max: 100 } },
    ],
    [
      'mutation ($q: Int) { placeOrder(input: { quantity: $q }) { id } }',
      { q: LARGEST + 1 },
      { path: 'input.quantity', ...TYPE },
    ],
    [
      'mutation ($q: Int) { placeOrder(input: { quantity: $q }) { id } }',
      { q: null },
      { path: 'input.quantity', ...REQUIRED },
    ],
    [
      `{ nodes(ids: [${'"UGV0OjE",'.repeat(101)}]) { nodeId } }`,
      undefined,
      { path: 'ids', rule: 'TOO_LONG', params: { max: 100 } },
    ],
  ])('%.80s with %j', async (query, variables, detail) => {
    expect(rulesIn(await refusalOf(gateway, query, variables))).toEqual([detail]);
  });

  test.each([
    ['{ node(id: "UGV0OjE") { nodeId } }', {}],
    ['query ($q: ID!) { node(id: $q) { nodeId } }', { q: 'UGV0OjE' }],
    ['query ($q: ID! = "UGV0OjE") { node(id: $q) { nodeId } }', {}],
    ['query ($q: ID!) { nodes(ids: [$q]) { nodeId } }', { q: 'UGV0OjE' }],
    ['query ($q: [ID!]!) { nodes(ids: $q) { nodeId } }', { q: ['UGV0OjE'] }],
    ['query ($q: [ID!]!) { nodes(ids: $q) { nodeId } }', { q: 'UGV0OjE' }],
  ])('a nodeId is accepted where one is expected: %s', async (query, variables) => {
    expect(JSON.stringify(await gateway.data(query, variables))).toContain('UGV0OjE');
  });

  test('the message of an id names only the form that the field accepts', async () => {
    const message = async (query: string) => (await refusalOf(gateway, query)).message;
    expect(await message('{ pet(id: "x") { id } }')).toBe('id: must be an integer from 1 to 9223372036854775807');
    expect(await message('{ apiKey(id: "x") { id } }')).toBe('id: must be 12 lower-case letters or digits');
    expect(await message('{ node(id: "x") { nodeId } }')).toBe('id: must be a nodeId');
  });
});
