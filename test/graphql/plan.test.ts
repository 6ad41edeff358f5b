import fc from 'fast-check';
import { execute, parse, validate } from 'graphql';
import { getVariableValues } from 'graphql/execution/values';
import { anonymousCaller } from '../../src/access/caller';
import type { Database, Session } from '../../src/database/database';
import { CategoryService } from '../../src/domain/category-service';
import { InventoryService } from '../../src/domain/inventory-service';
import { OrderService } from '../../src/domain/order-service';
import { PetService } from '../../src/domain/pet-service';
import { Context } from '../../src/graphql/context';
import { Executor } from '../../src/graphql/executor';
import { Charge } from '../../src/graphql/limits';
import { Operations } from '../../src/graphql/operation';
import { textOf } from '../../src/graphql/row-text';
import { buildSchema, type Services } from '../../src/graphql/schema';
import { MemoryStore } from '../../src/rate-limit/memory-store';
import { Meter } from '../../src/rate-limit/meter';
import { createDatabase } from '../helper/database';
import { runs } from '../helper/full';
import { queries } from '../helper/queries';
import { fill, worlds } from '../helper/world';

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
const operations = new Operations(schema);
const executor = new Executor(schema, Date.now, {
  answer: Number.MAX_SAFE_INTEGER,
  event: Number.MAX_SAFE_INTEGER,
});

let database: Database;
let drop: () => Promise<void>;
beforeAll(async () => {
  ({ database, drop } = await createDatabase());
});
afterAll(() => drop());

const observer = {
  onOperation: () => undefined,
  onInternalError: () => undefined,
  onUnavailable: () => undefined,
};

function context(): Context {
  const caller = { ...anonymousCaller('test', 'write'), quota: { perMinute: 1e9, perDay: 1e9 } };
  const meter = new Meter(limits, caller);
  const made = new Context(database, caller, meter, 'test', observer);
  made.charge = new Charge(meter, 1);
  return made;
}

/** The text of the plan's response; undefined where it gives up. */
async function byPlan(text: string, variables: Record<string, unknown>): Promise<string | undefined> {
  const document = parse(text);
  const operation = operations.find(document, undefined);
  const { coerced } = getVariableValues(schema, operation?.node.variableDefinitions ?? [], variables);
  if (!coerced || !operation?.plan) return undefined;
  return operation.plan.run(context(), coerced).then(
    (data) => textOf({ data }),
    () => undefined,
  );
}

async function byGraphqlJs(
  text: string,
  variables: Record<string, unknown>,
): Promise<{ answer: string; failed: boolean }> {
  const result = await execute({
    schema,
    document: parse(text),
    variableValues: variables,
    contextValue: context(),
  });
  return { answer: JSON.stringify(result), failed: result.errors !== undefined };
}

test('answers byte for byte as graphql-js does, and gives up exactly where graphql-js reports an error', async () => {
  const seen = { same: 0, refused: 0 };
  const [world] = fc.sample(worlds, { numRuns: 1, seed: 7 });
  if (!world) throw new Error('no world');
  await fill(database, world);
  await fc.assert(
    fc.asyncProperty(queries(schema), async ({ text, variables }) => {
      fc.pre(validate(schema, parse(text)).length === 0);
      const expected = await byGraphqlJs(text, variables);
      const planned = await byPlan(text, variables);
      if (expected.failed) {
        seen.refused++;
        expect(planned).toBeUndefined();
      } else {
        seen.same++;
        expect(planned).toBe(expected.answer);
      }
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

test('what a plan began to load before giving up is not passed on to graphql-js', async () => {
  const [world] = fc.sample(worlds, { numRuns: 1, seed: 7 });
  if (world) await fill(database, world);
  const text =
    '{ inventory { nodes { pet { category { name } } } } pet(id: 1) { category { id } orders(after: "x") { totalCount } } }';
  const { body } = await executor.run(parse(text), undefined, {}, context());
  expect(body.errors).toMatchObject([{ path: ['pet', 'orders'], extensions: { code: 'BAD_USER_INPUT' } }]);
});

test('a query that times out in the database is not sent again', async () => {
  const slow = context();
  const timeout = Object.assign(new Error('canceling statement due to statement timeout'), { code: '57014' });
  const query = jest.fn(() => Promise.reject(timeout));
  slow.session = { ...slow.session, query } as unknown as Session;
  const { body } = await executor.run(parse('{ pets { nodes { id } } }'), undefined, {}, slow);
  expect(body.errors).toMatchObject([{ path: ['pets'], extensions: { code: 'SERVICE_UNAVAILABLE' } }]);
  expect(query).toHaveBeenCalledTimes(1);
});

test.each([
  ['several mutations', 'mutation { a: deletePet(id: 1) { id } b: deletePet(id: 2) { id } }'],
  ['introspection', '{ __schema { queryType { name } } }'],
  ['directives', 'query ($x: Boolean!) { pet(id: 1) { id @include(if: $x) } }'],
  ['a response key that is not a plain property', '{ __proto__: pet(id: 1) { id } }'],
])('leaves %s to graphql-js', (_what, text) => {
  expect(operations.find(parse(text), undefined)?.plan).toBeUndefined();
});

describe('a mutation', () => {
  const ran = (document: string, variables: Record<string, unknown> = {}) => {
    const made = context();
    return executor.run(parse(document), undefined, variables, made);
  };
  const count = () => database.prisma.category.count();

  test('is run by its plan, once', async () => {
    const before = await count();
    const text =
      'mutation Add($name: String!) { createCategory(input: { name: $name }) { name pets { totalCount } } }';
    expect(operations.find(parse(text), undefined)?.plan).toBeDefined();
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
      data: null,
      errors: [{ path: ['made', 'pets'], locations: [{ line: 1 }], extensions: { code: 'BAD_USER_INPUT' } }],
    });
    expect(await count()).toBe(before + 1);
  });

  test('that is refused has one error, with its path', async () => {
    const before = await count();
    const { body } = await ran('mutation { made: createCategory(input: { name: " " }) { name } }');
    expect(body).toMatchObject({ data: null, errors: [{ path: ['made'] }] });
    expect(body.errors).toHaveLength(1);
    expect(await count()).toBe(before);
  });
});
