import fc from 'fast-check';
import { type GraphQLObjectType, getIntrospectionQuery, getNamedType, isObjectType } from 'graphql';
import { contractSchema } from '../../src/app/contract';
import { runs } from '../helper/full';
import { type Gateway, type Json, startGateway } from '../helper/gateway';
import { introspections } from './generated-queries';
import { valuesIn } from './values-in';

const schema = contractSchema();

let gateway: Gateway;
/** A gateway that allows an estimated cost of 1000, and a gateway that allows practically any operation. */
let strict: Gateway;
let unbounded: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
  strict = await gateway.another({ GRAPHQL_MAX_COST: '1000' });
  unbounded = await gateway.another({ GRAPHQL_MAX_COST: '10000000', GRAPHQL_MAX_DEPTH: '100' });
});
afterAll(async () => {
  await strict.close();
  await unbounded.close();
  await gateway.close();
});

/** Executes an operation. @returns the estimated cost that its response reports. */
async function costOf(query: string, variables: object = {}): Promise<number> {
  const { extensions } = await unbounded.graphql(query, variables);
  return Number(extensions?.cost?.estimated);
}

test.each([
  ['a field', '{ __typename }', 1],
  ['an object and its fields', '{ pet(id: 1) { id name } }', 20 + 2],
  ['nested objects', '{ pet(id: 1) { category { id } } }', 20 + 2],
  ['related rows that need no statement', '{ orders(first: 3) { nodes { pet { id } } } }', 20 + 3 * 3],
  [
    'once each statement for related rows',
    // A text that is selected twice is not written by the database, so loaders read the rows related to joined rows.
    '{ orders(first: 3) { nodes { pet { x: name y: name a: category { id } b: category { id } } } } }',
    20 + 3 * (1 + 1 + 2 + 4) + 20,
  ],
  ['each row that a statement finds by its id', '{ nodes(ids: ["UGV0OjE", "UGV0OjI"]) { nodeId } }', 80 + 2 * 3],
  ['a page of the default size', '{ pets { nodes { id } } }', 20 + 20 * 2],
  ['a page of a given size', '{ pets(first: 5) { nodes { id } } }', 20 + 5 * 2],
  ['a page of the largest size', '{ pets(first: 100) { nodes { id name } } }', 320],
  ['a page from the end', '{ pets(last: 7) { nodes { id } } }', 20 + 7 * 2],
  ['edges', '{ pets(first: 5) { edges { cursor node { id } } } }', 20 + 5 * 4],
  ['a total and page information', '{ pets(first: 5) { totalCount pageInfo { endCursor } } }', 20 + 250 + 2],
  ['a count if only totalCountRelation is selected', '{ pets(first: 5) { all: totalCountRelation } }', 20 + 250],
  ['nested pages', '{ pets(first: 5) { nodes { orders(first: 3) { nodes { id } } } } }', 20 + 5 * (2 - 1 + 20 + 3 * 2)],
  ['a page size over the maximum as the maximum', '{ pets(first: 1000000) { nodes { id } } }', 20 + 100 * 2],
  ['a page size of null', '{ pets(first: null, last: 4) { nodes { id } } }', 20 + 4 * 2],
  ['an invalid page size', '{ pets(first: -3) { nodes { id } } }', 20],
  ['a long string', '{ category(id: 1) { description } }', 20 + 10],
  ['API keys, which have only forward pagination', '{ apiKeys(first: 3) { nodes { id } } }', 20 + 3 * 2],
  ['a list of values', '{ apiKeys(first: 3) { nodes { scopes } } }', 20 + 3 * (1 + 3)],
  ['lists without paging', '{ rateLimit { windows { name } } }', 1 + 2 * 2],
  [
    'fields in fragments',
    '{ pets(first: 2) { ...A } } fragment A on PetConnection { nodes { ... { id } } }',
    20 + 2 * 2,
  ],
  [
    'a field once even if it is selected twice',
    '{ pet(id: 1) { id ...A } } fragment A on Pet { id category { id } ... { category { id } } }',
    20 + 3,
  ],
  ['no field that a directive skips', '{ pet(id: 1) { id @skip(if: true) name @include(if: true) } }', 20 + 1],
  ['no extra cost for aliases of up to 16 characters', '{ pet(id: 1) { n234567890123456: id hasName: name } }', 20 + 2],
  ['extra cost for longer aliases', '{ pet(id: 1) { n2345678901234567: id } }', 20 + 2],
  ['a long name once for each row', `{ pets(first: 5) { nodes { ${'n'.repeat(64)}: id } } }`, 20 + 5 * (1 + 4)],
  ['a filter', '{ pets(filter: { statuses: available }) { pageInfo { endCursor } } }', 20 + 10 + 1 + 2],
  ['an empty filter', '{ pets(filter: {}) { pageInfo { endCursor } } }', 20 + 10 + 2],
  ['nothing for a filter of null', '{ pets(filter: null) { pageInfo { endCursor } } }', 20 + 2],
  ['each value of a filter', '{ pets(filter: { ids: [1, 2, 5] }) { pageInfo { endCursor } } }', 20 + 10 + 3 + 2],
  ['a search', '{ pets(filter: { name: "a" }) { pageInfo { endCursor } } }', 20 + 10 + 1000 + 2],
  [
    'a filtered count in each row',
    '{ categories(first: 5) { nodes { pets(filter: { name: "a" }) { totalCount } } } }',
    20 + 5 * (1 + 20 + 10 + 1000 + 250),
  ],
  [
    'a mutation, and the statement for its related row',
    'mutation { deletePet(id: 1) { id category { id } } }',
    100 + 3 + 20,
  ],
])('the estimated cost counts %s', async (_what, query, cost) => {
  expect(await costOf(query)).toBe(cost);
});

describe('the cost of an operation depends on the values of its variables:', () => {
  const page = 'query ($n: Int = 10, $m: Int) { pets(first: $n, last: $m) { nodes { id } } }';
  // `constructor` is a property of every JavaScript object.
  const property = 'query ($constructor: Int = 50) { pets(first: $constructor) { nodes { id } } }';
  const condition = 'query ($named: Boolean!) { pet(id: 1) { id name @include(if: $named) } }';
  const filter = 'query ($filter: PetFilter) { pets(filter: $filter) { pageInfo { endCursor } } }';
  const fields =
    'query ($name: String, $ids: [ID!]) { pets(filter: { name: $name, ids: $ids }) { pageInfo { endCursor } } }';
  test.each<[string, object, number]>([
    [page, { n: 3 }, 20 + 3 * 2],
    [page, {}, 20 + 10 * 2],
    [page, { n: null }, 20 + 20 * 2],
    [page, { n: null, m: 4 }, 20 + 4 * 2],
    [page, { n: 1e9 }, 20 + 100 * 2],
    [page, { n: -5 }, 20],
    [property, {}, 20 + 50 * 2],
    [property, { constructor: 3 }, 20 + 3 * 2],
    [condition, { named: true }, 22],
    [condition, { named: false }, 21],
    [filter, {}, 22],
    [filter, { filter: null }, 22],
    [filter, { filter: { statuses: ['sold', 'pending'] } }, 34],
    [filter, { filter: { ids: ['1', '2', '3'], name: 'a' } }, 1035],
    [fields, {}, 32],
    [fields, { name: null, ids: ['1'] }, 33],
    [fields, { name: 'a' }, 1032],
    [fields, { name: 'a', ids: Array(200).fill(1) }, 1232],
  ])('%s %j', async (query, variables, cost) => {
    expect(await costOf(query, variables)).toBe(cost);
  });

  test('variables of a wrong type are rejected before the cost is estimated', async () => {
    const { errors } = await strict.graphql(page, { n: '7' });
    expect(errors[0]?.extensions?.code).toBe('BAD_USER_INPUT');
  });

  test('the cost is estimated again in every request with a known document', async () => {
    const document = 'query ($n: Int) { pets(first: $n) { nodes { orders(first: $n) { nodes { id } } } } }';
    const statusOf = async (n: number) => (await strict.graphql(document, { n })).status;
    expect([await statusOf(5), await statusOf(100), await statusOf(5), await statusOf(18)]).toEqual([
      200, 400, 200, 400,
    ]);
    const { errors } = await strict.graphql(document, { n: 100 });
    expect(errors).toEqual([
      {
        message:
          'The operation has an estimated cost of 22120; at most 1000 is allowed. Most expensive parts: OrderConnection.nodes 10000, Order.id 10000, Pet.orders 2000. Request less of these.',
        extensions: { code: 'OPERATION_TOO_COMPLEX', status: 400, requestId: expect.any(String) },
      },
    ]);
  });

  test('a rejected operation does not run, and counts as one request', async () => {
    const { headers } = await gateway.createKey();
    const query = `{ ${Array.from({ length: 9 }, (_, i) => `a${i}: pets(first: 100) { nodes { id } }`).join(' ')} }`;
    expect((await strict.graphql(query, {}, headers)).status).toBe(400);
    const { data } = await strict.graphql('{ rateLimit { windows { remaining } } }', {}, headers);
    expect(data.rateLimit?.windows?.map(({ remaining }: Json) => remaining)).toEqual([59, 999]);
  });
});

describe('the error names the most expensive elements', () => {
  const many = (count: number, text: (index: number) => string) =>
    Array.from({ length: count }, (_, i) => text(i)).join(' ');

  test.each([
    [
      'counts of searches',
      `{ category(id: 1) { ${many(100, (i) => `a${i}: pets(filter: { name: "0" }) { totalCount }`)} } }`,
      '128020; at most 50000 is allowed. Most expensive parts: Category.pets(filter:) 101000, PetConnection.totalCount 25000, Category.pets 2000.',
    ],
    [
      'pages of long names',
      `{ ${many(12, (i) => `p${i}: pets(first: 100) { nodes { ${many(38, (j) => `${`f${j}`.padEnd(64, '_')}: name`)} } }`)} }`,
      '183840; at most 50000 is allowed. Most expensive parts: names of more than 16 characters 136800, Pet.name 45600, PetConnection.nodes 1200.',
    ],
    [
      'introspection of long names',
      `{ ${many(12, (i) => `p${i}: __schema { types { ...F } }`)} } fragment F on __Type { ${many(38, (i) => `${`f${i}`.padEnd(64, '_')}: name`)} }`,
      /^\d{6}; at most 10000 is allowed for operations that use no quota\. Most expensive parts: names of more than 16 characters \d{6}, __Type\.name \d{5}, __Schema\.types \d{3}\.$/,
    ],
    [
      'rows',
      '{ categories(first: 100) { nodes { pets(first: 100) { nodes { orders(first: 100) { nodes { id } } } } } } }',
      '2212120; at most 50000 is allowed. Most expensive parts: OrderConnection.nodes 1000000, Order.id 1000000, Pet.orders 200000.',
    ],
  ])('%s', async (_what, query, message) => {
    const { errors } = await gateway.graphql(query);
    expect(errors[0]?.extensions?.code).toBe('OPERATION_TOO_COMPLEX');
    const [, said] =
      /^The operation has an estimated cost of (.*) Request less of these\.$/.exec(errors[0]?.message ?? '') ?? [];
    expect(said).toEqual(typeof message === 'string' ? message : expect.stringMatching(message));
  });
});

test.each([
  getIntrospectionQuery({ inputValueDeprecation: true, schemaDescription: true }),
  '{ pets(first: 100) { nodes { id name status category { id name } } } }',
  '{ categories(first: 20) { nodes { id name pets(first: 10) { nodes { id name status } } } } }',
  '{ pets { totalCount pageInfo { hasNextPage endCursor } edges { cursor node { id name } } } }',
  '{ pets(first: 50, filter: { name: "rex" }) { totalCount nodes { id name } } }',
  '{ categories(first: 20) { nodes { name pets(first: 3) { totalCount nodes { name } } } } }',
  '{ categories { nodes { id pets(first: 10) { nodes { id orders(first: 5) { nodes { id quantity } } } } } } }',
])('an ordinary operation costs less than a fifth of the limit: %#', async (query) => {
  expect(await costOf(query)).toBeLessThan(50_000 / 5);
});

describe('an event of a subscription', () => {
  const subscription = (count: number) =>
    `subscription { petChanged { pet { ${Array.from({ length: count }, (_, i) => `a${i}: category { id }`).join(' ')} } } }`;
  const codes = async (instance: Gateway, ...counts: number[]) =>
    Promise.all(counts.map(async (count) => (await instance.graphql(subscription(count))).errors[0]?.extensions?.code));

  test('has a lower limit on cost than an operation', async () => {
    // A subscription within the limit gets BAD_REQUEST, because this endpoint does not run subscriptions.
    expect(await codes(gateway, 114, 115)).toEqual(['BAD_REQUEST', 'OPERATION_TOO_COMPLEX']);
    const tight = await gateway.another({ GRAPHQL_MAX_COST: '100' });
    expect(await codes(tight, 39, 40)).toEqual(['BAD_REQUEST', 'OPERATION_TOO_COMPLEX']);
    await tight.close();
  });

  test.each([
    ['subscription { petChanged { pet { orders { totalCount } } } }', 'Pet.orders'],
    [
      'subscription { orderChanged { order { pet { category { a: pets { nodes { id } } b: pets { totalCount } } orders(first: 1) { nodes { id } } } } } }',
      'Category.pets, Pet.orders',
    ],
    [
      'subscription { inventoryChanged { item { ...I } } } fragment I on InventoryItem { pet { orders(first: 1) { pageInfo { endCursor } } } }',
      'Pet.orders',
    ],
  ])('cannot select pages or counts: %s', async (query, fields) => {
    const { status, errors } = await gateway.graphql(query);
    expect([status, errors[0]?.extensions?.code, errors[0]?.message]).toEqual([
      400,
      'OPERATION_TOO_COMPLEX',
      `An event of a subscription can contain single related objects, but no pages or counts. Remove ${fields}.`,
    ]);
  });
});

describe('an operation that uses no quota', () => {
  const types = (count: number) =>
    Array.from({ length: count }, (_, i) => `s${i}: __schema { types { name fields { name } } }`).join(' ');

  test('has a lower limit on cost, which still allows the introspection query of tools', async () => {
    const { status, errors } = await gateway.graphql(`{ ${types(20)} }`);
    expect([status, errors[0]?.extensions?.code, errors[0]?.message]).toEqual([
      400,
      'OPERATION_TOO_COMPLEX',
      expect.stringMatching(
        /^The operation has .*; at most 10000 is allowed for operations that use no quota\. Most expensive parts: /,
      ),
    ]);
    expect((await gateway.graphql(`{ ${types(20)} pet(id: 1) { id } }`)).status).toBe(200);
    expect((await gateway.graphql(getIntrospectionQuery())).status).toBe(200);
  });

  test('has the general limit on cost if the general limit is lower', async () => {
    expect((await strict.graphql(`{ ${types(3)} }`)).errors[0]?.message).toContain('at most 1000 is allowed for');
  });
});

test('lists over REST cost less than 2000, and are rejected if they cost more than GRAPHQL_MAX_COST', async () => {
  const statusOf = async (limit: string, url: string) => {
    const tight = await gateway.another({ GRAPHQL_MAX_COST: limit });
    const response = await tight.app.inject({ url });
    await tight.close();
    return [response.statusCode, response.statusCode === 200 ? undefined : response.json().code];
  };
  for (const path of ['/pets', '/categories', '/store/orders', '/store/inventory'])
    expect(await statusOf('2000', `${path}?limit=100`)).toEqual([200, undefined]);
  expect(await statusOf('100', '/pets?limit=5')).toEqual([200, undefined]);
  expect(await statusOf('100', '/pets?limit=100')).toEqual([400, 'OPERATION_TOO_COMPLEX']);
});

describe('an introspection response has at most as many values as its estimated cost', () => {
  const everything = getIntrospectionQuery({
    inputValueDeprecation: true,
    specifiedByUrl: true,
    schemaDescription: true,
    directiveIsRepeatable: true,
    oneOf: true,
  });
  test.each<[string, object?]>([
    [everything],
    [getIntrospectionQuery({ descriptions: false })],
    ['{ __schema { types { fields { args { name } } } } }'],
    ['{ __schema { types { fields(includeDeprecated: true) { type { fields { type { kind name } } } } } } }'],
    [
      '{ a: __schema { types { ...T } } b: __schema { queryType { ...T } } } fragment T on __Type { inputFields { name } enumValues { name } }',
    ],
    ['{ __schema { directives { locations args { type { ofType { ofType { name } } } } } } }'],
    ['{ __type(name: "Query") { fields { args { type { inputFields { name } } } } } }'],
    ['{ __type(name: "Nothing") { name } }'],
    ['query ($type: String!) { __type(name: $type) { fields { name args { name } } } }', { type: 'Mutation' }],
  ])('%#', async (query, variables = {}) => {
    const values = valuesIn(await unbounded.data(query, variables)) - 1;
    const cost = await costOf(query, variables);
    expect(cost).toBeGreaterThanOrEqual(values);
    // Long names, empty lists and unknown types make the estimate larger than the number of values.
    if (!query.includes('$type')) expect(cost).toBeLessThan(2 * values + 2);
  });

  test('for generated queries', async () => {
    let answered = 0;
    await fc.assert(
      fc.asyncProperty(introspections(schema), async (query) => {
        const { status, data, extensions } = await unbounded.graphql(query);
        fc.pre(status === 200);
        answered++;
        expect(extensions?.cost?.estimated).toBeGreaterThanOrEqual(valuesIn(data) - 1);
      }),
      runs(60, 500),
    );
    expect(answered).toBeGreaterThan(30);
  });
});

test('every field with a connection type has the directive @listSize', () => {
  const connections = Object.values(schema.getTypeMap())
    .filter((type): type is GraphQLObjectType => isObjectType(type))
    .flatMap((type) => Object.values(type.getFields()).map((field) => ({ at: `${type.name}.${field.name}`, field })))
    .filter(({ field }) => getNamedType(field.type).name.endsWith('Connection'));
  expect(connections.length).toBeGreaterThan(6);
  const unmarked = connections.filter(
    ({ field }) => !field.astNode?.directives?.some(({ name }) => name.value === 'listSize'),
  );
  expect(unmarked.map(({ at }) => at)).toEqual([]);
});
