import { MapperKind, mapSchema } from '@graphql-tools/utils';
import fc from 'fast-check';
import { execute, GraphQLList, type GraphQLOutputType, isListType, isNonNullType, parse, validate } from 'graphql';
import { anonymousCaller } from '../../src/access/caller';
import type { Database } from '../../src/database/database';
import { Charge } from '../../src/graphql/charge';
import { Context, GRAPHQL_API, type OperationRequest } from '../../src/graphql/context';
import { Executor } from '../../src/graphql/executor';
import { serialize } from '../../src/graphql/json-text';
import { Operations } from '../../src/graphql/operation';
import { Run } from '../../src/graphql/run';
import { buildSchema, type Services } from '../../src/graphql/schema';
import { CategoryService } from '../../src/petstore/categories/category-service';
import { InventoryService } from '../../src/petstore/inventory/inventory-service';
import { OrderService } from '../../src/petstore/orders/order-service';
import { PetService } from '../../src/petstore/pets/pet-service';
import { MemoryStore } from '../../src/rate-limit/memory-store';
import { Meter } from '../../src/rate-limit/meter';
import { createDatabase } from '../helper/database';
import { runs } from '../helper/full';
import { fill, worlds } from '../helper/world';
import { queries } from '../net/queries';

const limits = new MemoryStore({
  bans: { banAfter: 20, banSeconds: 60, banMaxSeconds: 3600 },
  now: Date.now,
});
const schema = buildSchema({
  categories: new CategoryService(),
  pets: new PetService(),
  orders: new OrderService(),
  inventory: new InventoryService(),
  limits,
} as unknown as Services);
/** The same schema, in which every error stays where it occurs. */
const lenient = mapSchema(schema, {
  [MapperKind.OBJECT_FIELD]: (field) => ({ ...field, type: nullable(field.type) }),
});
const operations = new Operations(schema);
const most = Number.MAX_SAFE_INTEGER;
const executor = new Executor(schema, {
  now: Date.now,
  costs: { query: most, mutation: most, subscription: most, free: most },
  maxResponseBytes: most,
});

function nullable(type: GraphQLOutputType): GraphQLOutputType {
  if (isNonNullType(type)) return nullable(type.ofType);
  return isListType(type) ? new GraphQLList(nullable(type.ofType)) : type;
}

let database: Database;
let drop: () => Promise<void>;
beforeAll(async () => {
  ({ database, drop } = await createDatabase());
});
afterAll(() => drop());

const observer = {
  onOperation: () => undefined,
  onInternalError: () => undefined,
  onProblem: () => undefined,
};

function request(more?: Partial<OperationRequest>): OperationRequest {
  const caller = { ...anonymousCaller('test', 'write'), quota: { perMinute: 1e9, perDay: 1e9 } };
  const meter = new Meter(limits, caller);
  return { session: database, caller, meter, requestId: 'test', observer, api: GRAPHQL_API, ...more };
}

function context(api: OperationRequest['api']): Context {
  const made = request({ api });
  return new Context(made, new Charge(made.meter, 1), database);
}

/** The response as text. */
async function byPlan(text: string, variables: Record<string, unknown>): Promise<string> {
  const operation = operations.find(parse(text), undefined);
  const coerced = operation?.coerce(variables);
  const plan = coerced && operation?.plan(coerced);
  if (!plan) return 'no plan';
  const { data, errors } = await new Run(context(GRAPHQL_API), coerced, most).execute(plan.root, false);
  return serialize(errors ? { errors: errors.map((error) => error.toJSON()), data } : { data });
}

async function byGraphqlJs(
  text: string,
  variables: Record<string, unknown>,
  against = schema,
): Promise<{ answer: string; failed: boolean }> {
  const result = await execute({
    schema: against,
    document: parse(text),
    variableValues: variables,
    // It reads every row's columns.
    contextValue: context({ name: 'graphql' }),
  });
  if (result.data === undefined) return { answer: 'no plan', failed: true };
  return { answer: JSON.stringify(result), failed: result.errors !== undefined };
}

test('answers byte for byte as graphql-js does, with the errors that it may report', async () => {
  const seen = { same: 0, refused: 0 };
  const [world] = fc.sample(worlds, { numRuns: 1, seed: 7 });
  if (!world) throw new Error('no world');
  await fill(database, world);
  await fc.assert(
    fc.asyncProperty(queries(schema), async ({ text, variables }) => {
      fc.pre(validate(schema, parse(text)).length === 0);
      const expected = await byGraphqlJs(text, variables);
      const planned = await byPlan(text, variables);
      if (!expected.failed) {
        seen.same++;
        expect(planned).toBe(expected.answer);
        return;
      }
      seen.refused++;
      if (expected.answer === 'no plan') return expect(planned).toBe('no plan');
      // Of several errors below one place that becomes null, either may report any.
      const { data, errors } = JSON.parse(planned);
      expect(data).toEqual(JSON.parse(expected.answer).data);
      const all = JSON.parse((await byGraphqlJs(text, variables, lenient)).answer).errors;
      expect(all).toEqual(expect.arrayContaining(errors));
      expect(errors.length).toBeGreaterThan(0);
    }),
    runs(80, 600),
  );
  // The queries are a mix of valid and invalid ones.
  expect(seen.same).toBeGreaterThan(20);
  expect(seen.refused).toBeGreaterThan(5);
}, 120_000);

describe('in rows that are read together,', () => {
  beforeAll(async () => {
    const [world] = fc.sample(worlds, { numRuns: 1, seed: 7 });
    if (world) await fill(database, world);
  });

  const PETS = '(first: 3, orderBy: { direction: DESC })';
  test.each([
    [
      `{ b: pets${PETS} { nodes { ...P } } a: pets${PETS} { nodes { ...P orders { nodes { quantity } } } } }`,
      'P on Pet',
      '{ orders { nodes { id } } }',
    ],
    [
      `{ a: pets${PETS} { nodes { ...P orders { nodes { quantity } } } } b: pets${PETS} { nodes { ...P } } }`,
      'P on Pet',
      '{ orders { nodes { id } } }',
    ],
    [
      '{ b: orders { nodes { pet { ...P } } } a: orders { nodes { pet { ...P category { id } inventory { status } } } } }',
      'P on Pet',
      '{ category { name } inventory { quantity } }',
    ],
    [
      '{ b: categories { nodes { ...C } } a: categories { nodes { ...C pets(first: 2) { nodes { status } } } } }',
      'C on Category',
      '{ pets(first: 2) { nodes { id } } }',
    ],
  ])('a fragment adds the same in each place as its fields written out: %s', async (text, on, body) => {
    const whole = `${text} fragment ${on} ${body}`;
    const [name = ''] = on.split(' ');
    const writtenOut = text.replaceAll(`...${name}`, `... ${body}`);
    const { answer, failed } = await byGraphqlJs(writtenOut, {});
    expect(failed).toBe(false);
    expect(await byGraphqlJs(whole, {})).toEqual({ answer, failed });
    expect(await byPlan(whole, {})).toBe(answer);
  });

  test.each([
    '{ pets(first: 5) { nodes { id } edges { cursor } } }',
    '{ pets(first: 5) { edges { __typename } nodes { name } pageInfo { hasNextPage endCursor } } }',
    '{ categories { nodes { pets { nodes { id } edges { cursor } totalCount } } } }',
  ])('every row has its edge: %s', async (text) => {
    const { answer, failed } = await byGraphqlJs(text, {});
    expect(failed).toBe(false);
    expect(answer).toContain('"edges":[{');
    expect(await byPlan(text, {})).toBe(answer);
  });
});

test('an error in one place leaves the others as they are', async () => {
  const [world] = fc.sample(worlds, { numRuns: 1, seed: 7 });
  if (world) await fill(database, world);
  const text =
    '{ inventory { nodes { pet { category { name } } } } pet(id: 1) { category { id } orders(after: "x") { totalCount } } }';
  const { body } = await executor.run(parse(text), undefined, {}, request());
  expect(body.errors).toMatchObject([{ path: ['pet', 'orders'], extensions: { code: 'BAD_USER_INPUT' } }]);
});

test('a query that times out in the database is not sent again', async () => {
  const timeout = Object.assign(new Error('canceling statement due to statement timeout'), { code: '57014' });
  const query = jest.fn(() => Promise.reject(timeout));
  const slow = request({ session: { ...database, work: database.work, query } });
  const { body } = await executor.run(parse('{ pets { nodes { id } } }'), undefined, {}, slow);
  expect(body.errors).toMatchObject([{ path: ['pets'], extensions: { code: 'SERVICE_UNAVAILABLE' } }]);
  expect(query).toHaveBeenCalledTimes(1);
});

test.each([
  ['introspection', '{ __schema { queryType { name } types { name fields { name args { name defaultValue } } } } }'],
  ['a type', '{ __type(name: "Pet") { name fields { type { kind ofType { name } } } } __typename }'],
  ['a response key that is not a plain property', '{ __proto__: pet(id: 1) { id __proto__: name } }'],
])('answers %s as graphql-js does', async (_what, text) => {
  const { answer, failed } = await byGraphqlJs(text, {});
  expect(failed).toBe(false);
  expect(await byPlan(text, {})).toBe(answer);
});

test.each([[{ a: true, b: true }], [{ a: true, b: false }], [{ a: false, b: true }], [{ a: false, b: false }]])(
  'an operation is compiled for each of its conditions: %j',
  async (variables) => {
    const text =
      'query ($a: Boolean!, $b: Boolean = true) { pets(first: 2) { nodes { id name @include(if: $a) } } ... @skip(if: $b) { categories { nodes { id } } } }';
    const { answer, failed } = await byGraphqlJs(text, variables);
    expect(failed).toBe(false);
    expect(await byPlan(text, variables)).toBe(answer);
  },
);

describe('a mutation', () => {
  const ran = (document: string, variables: Record<string, unknown> = {}) => {
    return executor.run(parse(document), undefined, variables, request());
  };
  const count = () => database.prisma.category.count();

  test('runs once', async () => {
    const before = await count();
    const text = 'mutation Add($name: String!) { createCategory(input: { name: $name }) { name pets { totalCount } } }';
    const { body } = await ran(text, { name: 'Newts' });
    expect(body.data).toEqual({ createCategory: { name: 'Newts', pets: { totalCount: 0 } } });
    expect(await count()).toBe(before + 1);
  });

  test('that succeeds, but whose result cannot be read, has still run once', async () => {
    const before = await count();
    const { body } = await ran(
      'mutation { made: createCategory(input: { name: "Newts" }) { name pets(first: 0) { totalCount } } }',
    );
    expect(body).toMatchObject({
      data: { made: null },
      errors: [{ path: ['made', 'pets'], locations: [{ line: 1 }], extensions: { code: 'BAD_USER_INPUT' } }],
    });
    expect(await count()).toBe(before + 1);
  });

  test('that is refused has one error, with its path', async () => {
    const before = await count();
    const { body } = await ran('mutation { made: createCategory(input: { name: " " }) { name } }');
    expect(body).toMatchObject({ data: { made: null }, errors: [{ path: ['made'] }] });
    expect(body.errors).toHaveLength(1);
    expect(await count()).toBe(before);
  });
});
