import fc from 'fast-check';
import {
  type GraphQLObjectType,
  getIntrospectionQuery,
  getNamedType,
  getOperationAST,
  isObjectType,
  parse,
  print,
} from 'graphql';
import { estimateAt } from '../../src/graphql/estimate';
import { Operation } from '../../src/graphql/operation';
import { buildSchema, type Services } from '../../src/graphql/schema';
import { OPERATIONS } from '../../src/petstore/operations';
import { prepare } from '../../src/rest/prepared-operation';
import { runs } from '../helper/full';
import { type Gateway, type Json, startGateway } from '../helper/gateway';
import { fill, worlds } from '../helper/world';
import { introspections, queries } from '../net/queries';

const schema = buildSchema({} as Services);

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway({ GRAPHQL_MAX_COST: '1000' });
});
afterAll(() => gateway.close());

function costOf(query: string, variables: object = {}): number {
  const document = parse(query);
  const node = getOperationAST(document);
  if (!node) throw new Error('no operation');
  const operation = new Operation(schema, document, node);
  const given = variables as Record<string, unknown>;
  const coerced = operation.coerce(given);
  const plan = operation.plan(coerced);
  if (!plan) throw new Error('the conditions are not known');
  const cost = estimateAt(plan.size, coerced ?? given);
  expect(cost).toBeLessThanOrEqual(plan.size.most);
  return Math.round(cost);
}

/** The number of objects and scalars in a response. */
function valuesIn(data: unknown): number {
  if (Array.isArray(data)) return data.reduce((total: number, item) => total + valuesIn(item), 0);
  if (typeof data !== 'object' || data === null) return 1;
  return 1 + Object.values(data).reduce((total: number, value) => total + valuesIn(value), 0);
}

test('an executed operation returns its own estimate, for its variables', async () => {
  const query = 'query ($first: Int) { pets(first: $first) { nodes { id name } } }';
  for (const [first, estimated] of [
    [5, 35],
    [100, 320],
  ])
    expect((await gateway.graphql(query, { first })).extensions).toMatchObject({ cost: { operation: 1, estimated } });
});

test.each([
  ['a field', '{ __typename }', 1],
  ['an object and its fields', '{ pet(id: 1) { id name } }', 3],
  ['nested objects', '{ pet(id: 1) { category { id } } }', 3],
  ['a page of the default size', '{ pets { nodes { id } } }', 20 + 20 * 2],
  ['a page of a given size', '{ pets(first: 5) { nodes { id } } }', 20 + 5 * 2],
  ['a page of the largest size', '{ pets(first: 100) { nodes { id name } } }', 320],
  ['a page from the end', '{ pets(last: 7) { nodes { id } } }', 20 + 7 * 2],
  ['edges', '{ pets(first: 5) { edges { cursor node { id } } } }', 20 + 5 * 4],
  ['what is beside the page', '{ pets(first: 5) { totalCount pageInfo { endCursor } } }', 20 + 250 + 2],
  ['a count, whatever is told of it', '{ pets(first: 5) { all: totalCountRelation } }', 20 + 250],
  ['nested pages', '{ pets(first: 5) { nodes { orders(first: 3) { nodes { id } } } } }', 20 + 5 * (2 - 1 + 20 + 3 * 2)],
  ['at most the largest page size', '{ pets(first: 1000000) { nodes { id } } }', 20 + 100 * 2],
  ['a page size of null', '{ pets(first: null, last: 4) { nodes { id } } }', 20 + 4 * 2],
  ['an invalid page size', '{ pets(first: -3) { nodes { id } } }', 20],
  ['a long string', '{ category(id: 1) { description } }', 1 + 10],
  ['keys, which only page forward', '{ apiKeys(first: 3) { nodes { id } } }', 20 + 3 * 2],
  ['a list of values', '{ apiKeys(first: 3) { nodes { scopes } } }', 20 + 3 * (1 + 3)],
  ['lists without paging', '{ rateLimit { windows { name } } }', 1 + 2 * 2],
  [
    'fields in fragments',
    '{ pets(first: 2) { ...A } } fragment A on PetConnection { nodes { ... { id } } }',
    20 + 2 * 2,
  ],
  [
    'a field selected twice once',
    '{ pet(id: 1) { id ...A } } fragment A on Pet { id category { id } ... { category { id } } }',
    4,
  ],
  ['no field that a directive skips', '{ pet(id: 1) { id @skip(if: true) name @include(if: true) } }', 2],
  ['a name of up to 16 characters', '{ pet(id: 1) { n234567890123456: id hasName: name } }', 3],
  ['longer names', '{ pet(id: 1) { n2345678901234567: id } }', 3],
  ['names in each row', `{ pets(first: 5) { nodes { ${'n'.repeat(64)}: id } } }`, 20 + 5 * (1 + 4)],
  ['a filter', '{ pets(filter: { statuses: available }) { pageInfo { endCursor } } }', 20 + 10 + 1 + 2],
  ['an empty filter', '{ pets(filter: {}) { pageInfo { endCursor } } }', 20 + 10 + 2],
  ['no filter', '{ pets(filter: null) { pageInfo { endCursor } } }', 20 + 2],
  ['each value of a filter', '{ pets(filter: { ids: [1, 2, 5] }) { pageInfo { endCursor } } }', 20 + 10 + 3 + 2],
  ['a search', '{ pets(filter: { name: "a" }) { pageInfo { endCursor } } }', 20 + 10 + 1000 + 2],
  [
    'a filtered count in each row',
    '{ categories(first: 5) { nodes { pets(filter: { name: "a" }) { totalCount } } } }',
    20 + 5 * (1 + 20 + 10 + 1000 + 250),
  ],
  ['a mutation', 'mutation { deletePet(id: 1) { id category { id } } }', 4],
])('counts %s', (_what, query, cost) => {
  expect(costOf(query)).toBe(cost);
});

describe('a page size in a variable', () => {
  const query = 'query ($n: Int = 10, $m: Int) { pets(first: $n, last: $m) { nodes { id } } }';
  test.each([
    [{ n: 3 }, 3],
    [{}, 10],
    [{ n: null }, 20],
    [{ n: null, m: 4 }, 4],
    [{ n: 1e9 }, 100],
    [{ n: -5 }, 0],
  ])('%j', (variables, length) => {
    expect(costOf(query, variables)).toBe(20 + length * 2);
  });

  test('that does not fit is refused as such', async () => {
    const { errors } = await gateway.graphql(query, { n: '7' });
    expect(errors[0]?.extensions?.code).toBe('BAD_USER_INPUT');
  });

  test('a condition in a variable is counted as it is given', () => {
    const conditional = 'query ($named: Boolean!) { pet(id: 1) { id name @include(if: $named) } }';
    expect([costOf(conditional, { named: true }), costOf(conditional, { named: false })]).toEqual([3, 2]);
  });

  test("that is named like an object's built-in property", () => {
    const query = 'query ($constructor: Int = 50) { pets(first: $constructor) { nodes { id } } }';
    expect([costOf(query), costOf(query, { constructor: 3 })]).toEqual([120, 26]);
  });

  test('is counted in every request, whoever sent the document first', async () => {
    const document = 'query ($n: Int) { pets(first: $n) { nodes { orders(first: $n) { nodes { id } } } } }';
    const statusOf = async (n: number) => (await gateway.graphql(document, { n })).status;
    expect([await statusOf(5), await statusOf(100), await statusOf(5), await statusOf(18)]).toEqual([
      200, 400, 200, 400,
    ]);
    const { errors } = await gateway.graphql(document, { n: 100 });
    expect(errors).toEqual([
      {
        message:
          'The operation has an estimated cost of 22120; at most 1000 is allowed. Most of it: OrderConnection.nodes 10000, Order.id 10000, Pet.orders 2000. Ask for less of these.',
        extensions: { code: 'OPERATION_TOO_COMPLEX', status: 400, requestId: expect.any(String) },
      },
    ]);
  });

  test('counts as one request when the operation is refused, and runs nothing', async () => {
    const { headers } = await gateway.createKey();
    const query = `{ ${Array.from({ length: 9 }, (_, i) => `a${i}: pets(first: 100) { nodes { id } }`).join(' ')} }`;
    expect((await gateway.graphql(query, {}, headers)).status).toBe(400);
    const { data } = await gateway.graphql('{ rateLimit { windows { remaining } } }', {}, headers);
    expect(data.rateLimit?.windows?.map(({ remaining }: Json) => remaining)).toEqual([59, 999]);
  });
});

test('a filter in a variable costs what it holds', () => {
  const whole = 'query ($filter: PetFilter) { pets(filter: $filter) { pageInfo { endCursor } } }';
  const part =
    'query ($name: String, $ids: [ID!]) { pets(filter: { name: $name, ids: $ids }) { pageInfo { endCursor } } }';
  expect(costOf(whole)).toBe(22);
  expect(costOf(whole, { filter: null })).toBe(22);
  expect(costOf(whole, { filter: { statuses: ['sold', 'pending'] } })).toBe(34);
  expect(costOf(whole, { filter: { ids: ['1', '2', '3'], name: 'a' } })).toBe(1035);
  expect(costOf(part)).toBe(32);
  expect(costOf(part, { name: null, ids: ['1'] })).toBe(33);
  expect(costOf(part, { name: 'a' })).toBe(1032);
  expect(costOf(part, { name: 'a', ids: Array.from({ length: 20_000 }, () => 1) })).toBe(21_032);
});

describe('a refusal says what costs most', () => {
  let ordinary: Gateway;
  beforeAll(async () => {
    ordinary = await gateway.another({ GRAPHQL_MAX_ALIASES: '10000', GRAPHQL_MAX_FIELDS: '10000' });
  });
  afterAll(() => ordinary.close());

  const many = (count: number, text: (index: number) => string) =>
    Array.from({ length: count }, (_, i) => text(i)).join(' ');

  test.each([
    [
      'counts of searches',
      `{ category(id: 1) { ${many(100, (i) => `a${i}: pets(filter: { name: "0" }) { totalCount }`)} } }`,
      '128001; at most 50000 is allowed. Most of it: Category.pets(filter:) 101000, PetConnection.totalCount 25000, Category.pets 2000.',
    ],
    [
      'pages of long names',
      `{ ${many(12, (i) => `p${i}: pets(first: 100) { nodes { ${many(38, (j) => `${`f${j}`.padEnd(64, '_')}: name`)} } }`)} }`,
      '183840; at most 50000 is allowed. Most of it: names of more than 16 characters 136800, Pet.name 45600, PetConnection.nodes 1200.',
    ],
    [
      'introspection of long names',
      `{ ${many(48, (i) => `p${i}: __schema { types { ...F } }`)} } fragment F on __Type { ${many(38, (i) => `${`f${i}`.padEnd(64, '_')}: name`)} }`,
      /^\d{6}; at most 10000 is allowed of one that uses no quota\. Most of it: names of more than 16 characters \d{6}, __Type\.name \d{6}, __Schema\.types \d{4}\.$/,
    ],
    [
      'rows',
      '{ categories(first: 100) { nodes { pets(first: 100) { nodes { orders(first: 100) { nodes { id } } } } } } }',
      '2212120; at most 50000 is allowed. Most of it: OrderConnection.nodes 1000000, Order.id 1000000, Pet.orders 200000.',
    ],
  ])('%s', async (_what, query, message) => {
    const { errors } = await ordinary.graphql(query);
    expect(errors[0]?.extensions?.code).toBe('OPERATION_TOO_COMPLEX');
    const [, said] =
      /^The operation has an estimated cost of (.*) Ask for less of these\.$/.exec(errors[0]?.message ?? '') ?? [];
    expect(said).toEqual(typeof message === 'string' ? message : expect.stringMatching(message));
  });
});

test.each([
  ['what GraphiQL asks', getIntrospectionQuery({ inputValueDeprecation: true, schemaDescription: true })],
  ['100 pets with their categories', '{ pets(first: 100) { nodes { id name status category { id name } } } }'],
  [
    '20 categories with 10 pets each',
    '{ categories(first: 20) { nodes { id name pets(first: 10) { nodes { id name status } } } } }',
  ],
  [
    'a page with its count',
    '{ pets { totalCount pageInfo { hasNextPage endCursor } edges { cursor node { id name } } } }',
  ],
  ['a search with its count', '{ pets(first: 50, filter: { name: "rex" }) { totalCount nodes { id name } } }'],
  [
    'the pets of 20 categories, counted',
    '{ categories(first: 20) { nodes { name pets(first: 3) { totalCount nodes { name } } } } }',
  ],
  [
    'nested pages of 10',
    '{ categories(first: 10) { nodes { id pets(first: 10) { nodes { id orders(first: 10) { nodes { id quantity } } } } } } }',
  ],
])('ordinary operations stay far below the limit: %s', (_what, query) => {
  expect(costOf(query)).toBeLessThan(50_000 / 5);
});

describe('an event of a subscription', () => {
  const subscription = (count: number) =>
    `subscription { petChanged { pet { ${Array.from({ length: count }, (_, i) => `a${i}: category { id }`).join(' ')} } } }`;
  const codes = async (instance: Gateway, ...counts: number[]) =>
    Promise.all(counts.map(async (count) => (await instance.graphql(subscription(count))).errors[0]?.extensions?.code));

  test('has its own limit on cost, besides the general one', async () => {
    expect(costOf(subscription(48))).toBe(98);
    const settings: Record<string, string>[] = [{ GRAPHQL_MAX_EVENT_COST: '99' }, { GRAPHQL_MAX_COST: '100' }];
    for (const own of settings) {
      const strict = await gateway.another(own);
      // The first is allowed, but not over this endpoint.
      expect(await codes(strict, 48, 50)).toEqual(['BAD_REQUEST', 'OPERATION_TOO_COMPLEX']);
      expect((await strict.graphql('{ pets(first: 39) { nodes { id } } }')).status).toBe(200);
      await strict.close();
    }
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
  ])('may not hold pages or counts: %s', async (query, fields) => {
    const { status, errors } = await gateway.graphql(query);
    expect([status, errors[0]?.extensions?.code, errors[0]?.message]).toEqual([
      400,
      'OPERATION_TOO_COMPLEX',
      `An event of a subscription holds rows and what they belong to, but no pages and counts; it may not select ${fields}.`,
    ]);
  });
});

describe('an operation that uses no quota', () => {
  const types = (count: number) =>
    Array.from({ length: count }, (_, i) => `s${i}: __schema { types { name fields { name } } }`).join(' ');

  test('has its own limit on cost, which what tools ask is far below', async () => {
    const instance = await gateway.another({});
    expect(costOf(`{ ${types(20)} }`)).toBeGreaterThan(10_000);
    const { status, errors } = await instance.graphql(`{ ${types(20)} }`);
    expect([status, errors[0]?.extensions?.code, errors[0]?.message]).toEqual([
      400,
      'OPERATION_TOO_COMPLEX',
      expect.stringMatching(/^The operation has .*; at most 10000 is allowed of one that uses no quota\. Most of it: /),
    ]);
    expect((await instance.graphql(`{ ${types(20)} pet(id: 1) { id } }`)).status).toBe(200);
    expect((await instance.graphql(getIntrospectionQuery())).status).toBe(200);
    await instance.close();
  });

  test('has the general limit if that is lower', async () => {
    expect((await gateway.graphql(`{ ${types(3)} }`)).errors[0]?.message).toContain('at most 1000 is allowed of one');
  });
});

test('REST operations fit the same limit, and are held to it', async () => {
  expect(OPERATIONS.length).toBeGreaterThan(15);
  const costs = OPERATIONS.map((row) => costOf(print(prepare(schema, row).document), { first: 100 }));
  expect(Math.max(...costs)).toBeLessThan(2000);
  expect(Math.max(...costs)).toBeGreaterThan(100);
  expect((await gateway.app.inject({ url: '/pets?limit=100' })).statusCode).toBe(200);
  const strict = await gateway.another({ GRAPHQL_MAX_COST: '100' });
  expect((await strict.app.inject({ url: '/pets?limit=5' })).statusCode).toBe(200);
  const refused = await strict.app.inject({ url: '/pets?limit=100' });
  expect([refused.statusCode, refused.json().code]).toEqual([400, 'OPERATION_TOO_COMPLEX']);
  await strict.close();
});

test('no response holds more values than estimated', async () => {
  const [world] = fc.sample(worlds, { numRuns: 1, seed: 11 });
  if (!world) throw new Error('no world');
  await fill(gateway.database, world);
  const instance = await gateway.another({ GRAPHQL_MAX_COST: '10000000' });
  let answered = 0;
  await fc.assert(
    fc.asyncProperty(queries(schema), async ({ text, variables }) => {
      const { status, data, errors } = await instance.graphql(text, variables);
      fc.pre(status === 200 && errors.length === 0);
      answered++;
      // The top-level object of a response is not a field.
      expect(valuesIn(data) - 1).toBeLessThanOrEqual(costOf(text, variables));
    }),
    runs(40, 300),
  );
  expect(answered).toBeGreaterThan(20);
  await instance.close();
});

describe('introspection has no more values than estimated', () => {
  let instance: Gateway;
  beforeAll(async () => {
    instance = await gateway.another({ GRAPHQL_MAX_COST: '10000000', GRAPHQL_MAX_DEPTH: '100' });
  });
  afterAll(() => instance.close());

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
  ])('%s', async (query, variables = {}) => {
    const values = valuesIn(await instance.data(query, variables)) - 1;
    const cost = costOf(query, variables);
    expect(cost).toBeGreaterThanOrEqual(values);
    // Longer names, empty lists and unknown types are what may make it more.
    if (!query.includes('$type')) expect(cost).toBeLessThan(2 * values + 2);
  });

  test('whatever is asked', async () => {
    let answered = 0;
    await fc.assert(
      fc.asyncProperty(introspections(schema), async (query) => {
        const { status, data } = await instance.graphql(query);
        fc.pre(status === 200);
        answered++;
        expect(costOf(query)).toBeGreaterThanOrEqual(valuesIn(data) - 1);
      }),
      runs(60, 500),
    );
    expect(answered).toBeGreaterThan(30);
  });
});

test('every connection declares its page size', () => {
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
