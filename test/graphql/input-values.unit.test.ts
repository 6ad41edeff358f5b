import fc from 'fast-check';
import {
  buildSchema,
  coerceInputValue,
  type FieldNode,
  type GraphQLField,
  type GraphQLInputType,
  type OperationDefinitionNode,
  parse,
  typeFromAST,
  validate,
} from 'graphql';
import { getArgumentValues, getVariableValues } from 'graphql/execution/values';
import { argumentsOf, hasConstantArguments } from '../../src/graphql/arguments';
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

const VARIABLES = '$int: Int, $text: String, $id: ID!, $colour: Colour = GREEN, $list: [Int], $deep: Deep';

/** Literals that may hold variables, many of the right type. */
const { literal } = fc.letrec<{ literal: string }>((tie) => {
  const member = (name: string) => tie('literal').map((text) => `${name}: ${text}`);
  const object = (names: string[]) =>
    fc
      .subarray(names)
      .chain((some) => fc.tuple(...some.map(member)).map((members) => `{ ${members.join(', ')} }`));
  return {
    literal: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom('null', '1', '1.5', '"a"', 'RED', 'true', '[1, null]', '{}'),
      fc.constantFrom(
        '$int',
        '$text',
        '$id',
        '$colour',
        '$list',
        '$deep',
        '[$int]',
        '{ id: $id, name: "n" }',
      ),
      fc.constantFrom(
        '{ number: $int, colour: $colour }',
        '{ id: $id, name: "n", deep: $deep }',
        '{ id: $id }',
      ),
      fc.array(tie('literal'), { maxLength: 3 }).map((items) => `[${items.join(', ')}]`),
      object(['id', 'name', 'count', 'tags', 'deep']),
      object(['self', 'many', 'number', 'colour']),
    ),
  };
});

const given = fc.record(
  {
    int: fc.constantFrom(1, null),
    text: fc.constantFrom('t', null),
    id: fc.constantFrom('9', 9),
    colour: fc.constantFrom('RED', null),
    list: fc.constantFrom([1, 2], 3, null),
    deep: fc.constantFrom({}, { number: null, self: { colour: 'RED' } }, null),
  },
  { requiredKeys: ['id'] },
);

test('arguments are coerced as by graphql-js, for any document', () => {
  const fields = schema.getQueryType()?.getFields() ?? {};
  const names = Object.values(fields).flatMap((field) =>
    field.args.map(({ name }) => [field.name, name] as const),
  );
  const document = fc
    .tuple(fc.constantFrom(...names), fc.constantFrom(...names), literal, literal)
    .map(([[field, one], [, other], first, second]) => {
      const more = one === other ? '' : `, ${other}: ${second}`;
      const needs = field === 'needs' ? 'id: $id, colour: RED, deep: {}' : '';
      const args = needs.includes(`${one}:`) ? needs : `${needs}, ${one}: ${first}`;
      return `query (${VARIABLES}) { ${field}(${args}${field === 'field' ? more : ''}) }`;
    });
  let compared = 0;
  let withVariables = 0;
  fc.assert(
    fc.property(document, given, (text, variables) => {
      const parsed = outcome(() => parse(text));
      if (parsed === 'refused') return;
      const ast = parsed.value as ReturnType<typeof parse>;
      const faults = validate(schema, ast).filter(({ message }) => !message.includes('never used'));
      if (faults.length) return;
      const [operation] = ast.definitions as unknown as [OperationDefinitionNode];
      const [node] = operation.selectionSet.selections as unknown as [FieldNode];
      const field = fields[node.name.value] as GraphQLField<unknown, unknown>;
      const { coerced } = getVariableValues(schema, operation.variableDefinitions ?? [], variables);
      if (!coerced) return;
      const expected = outcome(() => getArgumentValues(field, node, coerced));
      const actual = outcome(() => argumentsOf(field, node)(coerced));
      expect(actual).toEqual(expected);
      expect(JSON.stringify(actual)).toBe(JSON.stringify(expected));
      compared++;
      if (!hasConstantArguments(node)) withVariables++;
    }),
    runs(1200, 10_000),
  );
  expect(compared).toBeGreaterThan(120);
  expect(withVariables).toBeGreaterThan(50);
});
