import { MapperKind, mapSchema } from '@graphql-tools/utils';
import fc from 'fast-check';
import {
  execute,
  GraphQLList,
  type GraphQLOutputType,
  getOperationAST,
  isListType,
  isNonNullType,
  parse,
  specifiedRules,
  validate,
} from 'graphql';
import { anonymousCaller } from '../../src/access/account';
import { contractSchema } from '../../src/app/contract';
import type { Services } from '../../src/app/domains';
import { gatewayDomains } from '../../src/app/domains';
import { Context, GRAPHQL_API } from '../../src/graphql/context';
import { Operation } from '../../src/graphql/operation';
import { idFormsRule } from '../../src/graphql/scalars';
import { MemoryStore } from '../../src/rate-limit/memory-store';
import { Meter } from '../../src/rate-limit/meter';
import { runs } from '../helper/full';
import { type Gateway, startGateway } from '../helper/gateway';
import { fill, worlds } from '../helper/world';
import { queries } from './generated-queries';
import { valuesIn } from './values-in';

const bans = { banAfter: 20, banSeconds: 60, banMaxSeconds: 3600 };
const limits = new MemoryStore({ bans, now: Date.now });
const schema = contractSchema(gatewayDomains({ limits } as unknown as Services));
/** The same schema, but all fields are nullable. So an error does not make the parent null, and all errors are reported. */
const lenient = mapSchema(schema, {
  [MapperKind.OBJECT_FIELD]: (field) => ({ ...field, type: nullable(field.type) }),
});

function nullable(type: GraphQLOutputType): GraphQLOutputType {
  if (isNonNullType(type)) return nullable(type.ofType);
  return isListType(type) ? new GraphQLList(nullable(type.ofType)) : type;
}

let gateway: Gateway;
let unbounded: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
  unbounded = await gateway.another({ GRAPHQL_MAX_COST: '10000000' });
  const [world] = fc.sample(worlds, { numRuns: 1, seed: 7 });
  if (!world) throw new Error('no world');
  await fill(gateway.database, world);
});
afterAll(async () => {
  await unbounded.close();
  await gateway.close();
});

/** The status of a response, its text without `extensions`, and the estimated cost in `extensions`. */
async function ask(query: string, variables: object = {}) {
  const response = await unbounded.app.inject({ method: 'POST', url: '/graphql', payload: { query, variables } });
  const [, text = '', estimated] =
    /^(.*?)(?:,"extensions":\{"cost":\{"operation":\d+,"estimated":(\d+),[^{}]*\{[^{}]*\}\}\})?\}$/.exec(
      response.body,
    ) ?? [];
  return { status: response.statusCode, text: `${text}}`, estimated: Number(estimated) };
}

/** The result of the executor of graphql-js, for which the resolvers read every column of every row. */
async function byGraphqlJs(text: string, variableValues: Record<string, unknown> = {}, against = schema) {
  const caller = { ...anonymousCaller('test', 'write'), quota: { perMinute: 1e9, perDay: 1e9 } };
  const meter = new Meter(limits, caller);
  const observer = { onOperation: () => undefined, onInternalError: () => undefined, onProblem: () => undefined };
  const session = gateway.database.serviceSession();
  const contextValue = new Context(
    { session, caller, meter, requestId: 'test', observer, api: GRAPHQL_API },
    { countedFields: 1 },
    session,
  );
  return execute({ schema: against, document: parse(text), variableValues, contextValue });
}

/** Whether the gateway accepts the variables of a valid document. */
function hasVariables(text: string, variables: Record<string, unknown>): boolean {
  const document = parse(text);
  const node = getOperationAST(document);
  return node !== null && node !== undefined && new Operation(schema, document, node).coerce(variables) !== undefined;
}

async function expectSame(text: string, variables: Record<string, unknown> = {}): Promise<void> {
  const result = await byGraphqlJs(text, variables);
  expect(result.errors).toBeUndefined();
  expect(await ask(text, variables)).toMatchObject({ status: 200, text: JSON.stringify(result) });
}

test('responses are byte-identical to the responses of graphql-js, with the same errors and at most the estimated number of values', async () => {
  const seen = { same: 0, failed: 0 };
  const property = fc.asyncProperty(queries(schema), async ({ text, variables }) => {
    fc.pre(validate(schema, parse(text), [...specifiedRules, idFormsRule]).length === 0);
    const expected = await byGraphqlJs(text, variables);
    // Only the gateway rejects ids in places that do not accept their form (error-rules.test.ts).
    fc.pre(!expected.data || hasVariables(text, variables));
    const answer = await ask(text, variables);
    if (!expected.errors) {
      seen.same++;
      expect(answer.text).toBe(JSON.stringify(expected));
      // `valuesIn` also counts the `data` object, which is not a field.
      expect(valuesIn(expected.data) - 1).toBeLessThanOrEqual(answer.estimated);
      return;
    }
    seen.failed++;
    const { data, errors } = JSON.parse(answer.text);
    expect(errors.length).toBeGreaterThan(0);
    // The gateway rejects invalid identifiers before anything runs.
    if (data === undefined) return expect(answer.status).toBe(400);
    expect(data).toEqual(JSON.parse(JSON.stringify(expected)).data);
    // If several errors make the same parent null, the gateway and graphql-js may report different errors.
    const all = JSON.parse(JSON.stringify(await byGraphqlJs(text, variables, lenient))).errors;
    for (const { path, message, locations } of errors)
      expect(all).toContainEqual(expect.objectContaining({ path, message, locations }));
  });
  await fc.assert(property, runs(80, 600));
  // Only some of the generated queries are valid.
  expect(seen.same).toBeGreaterThan(20);
  expect(seen.failed).toBeGreaterThan(5);
});

describe('the response is the same as from graphql-js:', () => {
  const PETS = 'pets(first: 3, orderBy: { direction: DESC })';
  test.each([
    // The first field selects only the fragment. The second field selects the fragment and more fields.
    `{ b: ${PETS} { nodes { ...P } } a: ${PETS} { nodes { ...P orders { nodes { quantity } } } } } fragment P on Pet { orders { nodes { id } } }`,
    `{ a: ${PETS} { nodes { ...P orders { nodes { quantity } } } } b: ${PETS} { nodes { ...P } } } fragment P on Pet { orders { nodes { id } } }`,
    `{ b: orders { nodes { pet { ...P } } } a: orders { nodes { pet { ...P category { id } inventory { status } } } } }
      fragment P on Pet { category { name } inventory { quantity } }`,
    `{ b: categories { nodes { ...C } } a: categories { nodes { ...C pets(first: 2) { nodes { status } } } } }
      fragment C on Category { pets(first: 2) { nodes { id } } }`,
    // `nodes` and `edges` select from the same rows.
    '{ pets(first: 5) { nodes { id } edges { cursor } } }',
    '{ pets(first: 5) { edges { __typename } nodes { name } pageInfo { hasNextPage endCursor } } }',
    '{ categories { nodes { pets { nodes { id } edges { cursor } totalCount } } } }',
    '{ pets(first: 2) { nodes { id } nodes { name } edges { node { category { name } } } edges { node { id } } } }',
    '{ __schema { queryType { name } types { name fields { name args { name defaultValue } } } } }',
    '{ __type(name: "Pet") { name fields { type { kind ofType { name } } } } __typename }',
    '{ __proto__: pet(id: 1) { id __proto__: name } }',
    '{ pet(id: 1) { b: name ... on Pet { name b: name } ... { category { id } } category { name } } }',
    '{ node(id: "UGV0OjE") { ... on Pet { barks: name } ... on Category { name } ... on Node { nodeId } __typename } }',
  ])('%s', (text) => expectSame(text));

  test.each([true, false])('for @include and @skip, if $a is %j', async (a) => {
    const text = `query ($a: Boolean!, $b: Boolean = true) {
      pets(first: 2) { nodes { id name @include(if: $a) } } ... @skip(if: $b) { categories { nodes { id } } }
    }`;
    for (const variables of [{ a }, { a, b: true }, { a, b: false }]) await expectSame(text, variables);
  });
});
