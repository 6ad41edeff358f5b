import { buildSchema, execute, type GraphQLAbstractType, type GraphQLSchema, parse } from 'graphql';
import { anonymousCaller } from '../../src/access/caller';
import { Charge } from '../../src/graphql/charge';
import { Context, GRAPHQL_API, type OperationRequest } from '../../src/graphql/context';
import { serialize } from '../../src/graphql/json-text';
import { Operations } from '../../src/graphql/operation';
import { Run } from '../../src/graphql/run';
import { MemoryStore } from '../../src/rate-limit/memory-store';
import { Meter } from '../../src/rate-limit/meter';

const SDL = `
  interface Named { name: String! }
  interface Aged implements Named { name: String! age: Int }
  type Dog implements Named & Aged { name: String! age: Int barks: Boolean friends: [Animal] }
  type Cat implements Named { name: String! lives: Int! }
  union Animal = Dog | Cat
  type Query { one: Animal named: Named sure: Named! all: [Animal]! aged: [Aged!] }
`;
const REX = { __typename: 'Dog', name: 'Rex', age: 3, barks: true };
const TOM = { __typename: 'Cat', name: 'Tom', lives: 9 };
const NOBODY = { __typename: 'Ghost', name: 'Nobody' };

const typeOf = ({ __typename }: { __typename: string }) => __typename;

/** The ways in which a type can be found. */
const WAYS: Readonly<Record<string, GraphQLAbstractType['resolveType']>> = {
  'by __typename': undefined,
  'by a function': typeOf,
  'by a promise': async (value) => typeOf(value),
};

function schemaWith(way: string): GraphQLSchema {
  const schema = buildSchema(SDL);
  for (const name of ['Named', 'Aged', 'Animal']) (schema.getType(name) as GraphQLAbstractType).resolveType = WAYS[way];
  return schema;
}

async function byPlan(schema: GraphQLSchema, text: string, root: object, variables = {}): Promise<string> {
  const plan = new Operations(schema).find(parse(text), undefined)?.plan(variables);
  if (!plan) throw new Error('no plan');
  const caller = anonymousCaller('test', 'read');
  const bans = { banAfter: 20, banSeconds: 60, banMaxSeconds: 3600 };
  const meter = new Meter(new MemoryStore({ bans, now: Date.now }), caller);
  const request = { caller, meter, api: GRAPHQL_API } as OperationRequest;
  const run = new Run(
    new Context(request, new Charge(meter, 0), request.session),
    variables,
    Number.POSITIVE_INFINITY,
    root,
  );
  const { data, errors } = await run.execute(plan.root, false);
  return serialize(errors ? { errors: errors.map((error) => error.toJSON()), data } : { data });
}

async function byGraphqlJs(schema: GraphQLSchema, text: string, rootValue: object, variableValues = {}) {
  return JSON.stringify(await execute({ schema, document: parse(text), rootValue, variableValues }));
}

const DEEP = { ...REX, friends: [TOM, null, { ...REX, friends: [] }] };

describe.each(Object.keys(WAYS))('values of interfaces and unions whose type is found %s', (way) => {
  const schema = schemaWith(way);

  test.each<[string, object]>([
    ['{ one { __typename } named { __typename name } }', { one: REX, named: TOM }],
    ['{ one { ... on Dog { barks } ... on Cat { lives } } }', { one: TOM }],
    [
      '{ all { ... on Named { name } ... on Aged { age } ...C } } fragment C on Cat { lives name }',
      { all: [REX, TOM, REX] },
    ],
    ['{ all { ... on Dog { n: name } ... on Cat { n: name } __typename } }', { all: [TOM, null, REX] }],
    [
      '{ aged { name ... on Named { name } ... on Dog { barks friends { __typename ...F } } } } fragment F on Animal { ... on Dog { name } }',
      { aged: [DEEP] },
    ],
    [
      '{ aged { ... { ... on Dog { friends { ... on Dog { friends { __typename } age } ... on Cat { lives } } } } } }',
      { aged: [DEEP] },
    ],
    ['{ one { ... on Cat { lives } } named { name } }', { one: null, named: null }],
    [
      'query ($a: Boolean = true) { one { ... on Dog @skip(if: $a) { barks } ... on Dog @include(if: $a) { age } } }',
      { one: REX },
    ],
    ['{ one { __proto__: __typename } }', { one: REX }],
    ['{ one { ... on Dog { name } } }', { one: Promise.resolve(REX) }],
  ])('are answered as graphql-js does: %s', async (text, root) => {
    const expected = await byGraphqlJs(schema, text, root, { a: true });
    expect(expected).not.toContain('errors');
    expect(await byPlan(schema, text, root, { a: true })).toBe(expected);
  });

  test.each<[string, object, (string | number)[][]]>([
    ['{ one { ... on Dog { name } } }', { one: NOBODY }, [['one']]],
    ['{ one { ... on Dog { name } } named { name } }', { one: {}, named: REX }, [['one']]],
    ['{ sure { name } }', { sure: NOBODY }, [['sure']]],
    [
      '{ all { ... on Dog { name } } }',
      { all: [REX, NOBODY, { ...REX, name: null }] },
      [
        ['all', 1],
        ['all', 2, 'name'],
      ],
    ],
    ['{ aged { name } }', { aged: [REX, TOM] }, [['aged', 1]]],
  ])('fail where graphql-js does: %s', async (text, root, paths) => {
    const expected = JSON.parse(await byGraphqlJs(schema, text, root));
    const { data, errors } = JSON.parse(await byPlan(schema, text, root));
    expect(data).toEqual(expected.data);
    const sorted = (list: { path: unknown[] }[]) => list.map(({ path }) => path).sort();
    expect(sorted(errors)).toEqual(paths);
    expect(sorted(expected.errors)).toEqual(paths);
  });
});
