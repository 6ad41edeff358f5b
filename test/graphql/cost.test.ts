import fc from 'fast-check';
import { type GraphQLObjectType, getNamedType, getOperationAST, isObjectType, parse, print } from 'graphql';
import { estimateAt } from '../../src/graphql/documents/estimate';
import { Operation } from '../../src/graphql/executor/operation';
import { OPERATIONS } from '../../src/rest/operations';
import { prepare } from '../../src/rest/prepared-operation';
import { buildSchema, type Services } from '../../src/schema/schema';
import { runs } from '../helper/full';
import { type Gateway, type Json, startGateway } from '../helper/gateway';
import { queries } from '../helper/queries';
import { fill, worlds } from '../helper/world';

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
  return estimateAt(plan.size, coerced ?? given);
}

/** The number of objects and scalars in a response. */
function valuesIn(data: unknown): number {
  if (Array.isArray(data)) return data.reduce((total: number, item) => total + valuesIn(item), 0);
  if (typeof data !== 'object' || data === null) return 1;
  return 1 + Object.values(data).reduce((total: number, value) => total + valuesIn(value), 0);
}

test.each([
  ['a field', '{ __typename }', 1],
  ['an object and its fields', '{ pet(id: 1) { id name } }', 3],
  ['nested objects', '{ pet(id: 1) { category { id } } }', 3],
  ['a page of the default size', '{ pets { nodes { id } } }', 1 + 20 * 2],
  ['a page of a given size', '{ pets(first: 5) { nodes { id } } }', 1 + 5 * 2],
  ['a page from the end', '{ pets(last: 7) { nodes { id } } }', 1 + 7 * 2],
  ['edges', '{ pets(first: 5) { edges { cursor node { id } } } }', 1 + 5 * 4],
  ['what is beside the page', '{ pets(first: 5) { totalCount pageInfo { endCursor } } }', 4],
  ['nested pages', '{ pets(first: 5) { nodes { orders(first: 3) { nodes { id } } } } }', 1 + 5 * (2 + 3 * 2)],
  ['at most the largest page size', '{ pets(first: 1000000) { nodes { id } } }', 1 + 100 * 2],
  ['a page size of null', '{ pets(first: null, last: 4) { nodes { id } } }', 1 + 4 * 2],
  ['an invalid page size', '{ pets(first: -3) { nodes { id } } }', 1],
  ['a long string', '{ category(id: 1) { description } }', 1 + 10],
  ['keys, which only page forward', '{ apiKeys(first: 3) { nodes { id } } }', 1 + 3 * 2],
  ['lists without paging', '{ rateLimit { windows { name } } }', 1 + 7 * 2],
  ['fields in fragments', '{ pets(first: 2) { ...A } } fragment A on PetConnection { nodes { ... { id } } }', 5],
  [
    'a field selected twice once',
    '{ pet(id: 1) { id ...A } } fragment A on Pet { id category { id } ... { category { id } } }',
    4,
  ],
  ['no field that a directive skips', '{ pet(id: 1) { id @skip(if: true) name @include(if: true) } }', 2],
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
    expect(costOf(query, variables)).toBe(1 + length * 2);
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
    expect([costOf(query), costOf(query, { constructor: 3 })]).toEqual([101, 7]);
  });

  test('is counted in every request, whoever sent the document first', async () => {
    const document = 'query ($n: Int) { pets(first: $n) { nodes { orders(first: $n) { nodes { id } } } } }';
    const statusOf = async (n: number) => (await gateway.graphql(document, { n })).status;
    expect([await statusOf(5), await statusOf(100), await statusOf(5), await statusOf(22)]).toEqual([
      200, 400, 200, 400,
    ]);
    const { errors } = await gateway.graphql(document, { n: 100 });
    expect(errors).toEqual([
      {
        message:
          'The operation has an estimated cost of 20201 values; at most 1000 are allowed. Ask for shorter pages or fewer fields.',
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

test('an event of a subscription has its own limit on cost, besides the general one', async () => {
  const subscription = (first: number) =>
    `subscription { petChanged { pet { orders(first: ${first}) { nodes { id } } } } }`;
  const codes = async (instance: Gateway, ...firsts: number[]) =>
    Promise.all(firsts.map(async (first) => (await instance.graphql(subscription(first))).errors[0]?.extensions?.code));
  expect(costOf(subscription(48))).toBe(99);
  const settings: Record<string, string>[] = [{ GRAPHQL_MAX_EVENT_COST: '99' }, { GRAPHQL_MAX_COST: '100' }];
  for (const own of settings) {
    const strict = await gateway.another(own);
    // The first is allowed, but not over this endpoint.
    expect(await codes(strict, 48, 49)).toEqual(['BAD_REQUEST', 'OPERATION_TOO_COMPLEX']);
    expect((await strict.graphql('{ pets(first: 49) { nodes { id } } }')).status).toBe(200);
    await strict.close();
  }
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
