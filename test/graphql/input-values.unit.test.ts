import fc from 'fast-check';
import {
  buildSchema,
  coerceInputValue,
  type GraphQLInputType,
  type OperationDefinitionNode,
  parse,
  typeFromAST,
} from 'graphql';
import { coercerOf } from '../../src/graphql/input-values';
import { runs } from '../helper/full';

const schema = buildSchema(/* GraphQL */ `
  enum Colour { RED GREEN }
  input Deep { self: Deep, many: [Deep!], number: Int = 7, colour: Colour }
  input Strict { id: ID!, name: String!, count: Int! = 3, tags: [String!]! = ["a"], deep: Deep }
  input Either @oneOf { id: ID, name: String }
  type Query {
    field(
      int: Int, float: Float = 1.5, text: String, flag: Boolean, id: ID, colour: Colour, must: Int! = 4
      list: [Int], strictList: [[Int!]!], deep: Deep, strict: Strict, either: Either, many: [Strict!]
    ): Int
    needs(id: ID!, deep: Deep!, colour: Colour!): Int
  }
`);

const TYPES = [
  ...['Int', 'Float', 'String!', 'Boolean', 'ID!', 'Colour', '[Int]', '[Int!]!', '[[Int!]]', '[Colour!]'],
  ...['Deep', 'Deep!', '[Deep!]', 'Strict', 'Strict!', '[Strict!]', 'Either', 'Either!'],
];

function typeOf(text: string): GraphQLInputType {
  const [{ variableDefinitions: [definition] = [] }] = parse(`query ($it: ${text}) { a }`)
    .definitions as unknown as [OperationDefinitionNode];
  return typeFromAST(schema, definition?.type as never) as GraphQLInputType;
}

/** JSON values, many of which fit one type or another. */
const { value: values } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom(null, 0, 1, -3, 2 ** 31, 1.5, 'a', '', 'RED', 'BLUE', '12', true, false, {}, []),
    {
      weight: 3,
      arbitrary: fc.constantFrom(
        { id: 7 },
        { name: 'n' },
        { id: '1', name: 'n' },
        { id: 2, name: 'n', deep: { self: {} } },
      ),
    },
    fc.array(tie('value'), { maxLength: 3 }),
    fc.record(
      {
        id: fc.oneof(fc.constantFrom('1', 2, null), tie('value')),
        name: fc.oneof(fc.constantFrom('n', null), tie('value')),
        count: tie('value'),
        tags: tie('value'),
        deep: tie('value'),
      },
      { requiredKeys: [] },
    ),
    fc.record(
      { self: tie('value'), many: tie('value'), number: tie('value'), colour: tie('value') },
      { requiredKeys: [] },
    ),
    fc.dictionary(fc.constantFrom('id', 'name', 'colour', 'unknown', '__proto__'), tie('value')),
  ),
}));

function outcome(work: () => unknown): { value: unknown } | 'refused' {
  try {
    return { value: work() };
  } catch {
    return 'refused';
  }
}

function refuse(): never {
  throw new Error('refused');
}

describe('variables', () => {
  test.each(TYPES)('of the type %s are coerced as by graphql-js', (text) => {
    const type = typeOf(text);
    const coerce = coercerOf(type);
    let fitting = 0;
    fc.assert(
      fc.property(values, (value) => {
        const expected = outcome(() => coerceInputValue(value, type, refuse));
        const actual = outcome(() => coerce(value));
        expect(actual).toEqual(expected);
        // Serialising it compares the order of its members too.
        expect(JSON.stringify(actual)).toBe(JSON.stringify(expected));
        if (expected !== 'refused') fitting++;
      }),
      runs(150, 2000),
    );
    expect(fitting).toBeGreaterThan(0);
  });
});
