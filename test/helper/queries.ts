import fc from 'fast-check';
import {
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isLeafType,
  isObjectType,
} from 'graphql';

/** A valid query for the schema, and its variables. */
export interface Query {
  text: string;
  variables: Record<string, unknown>;
}

/** Possible values of each argument, as literals or with the variables of {@link VARIABLES}; some are rejected. */
const ARGUMENTS: Readonly<Record<string, readonly string[]>> = {
  'id: ID!': ['1', '"2"', '999', '$id'],
  'petId: ID!': ['1', '3', '$id'],
  'first: Int': ['1', '3', '100', '101', 'null', '$first'],
  'last: Int': ['2', '-1', '$first'],
  'after: String': ['null', '"nonsense"', '$after'],
  'filter: PetFilter': ['{}', '{ statuses: available }', '{ ids: [1, 2, 5] }', '{ name: $name }', 'null'],
  'filter: CategoryFilter': ['{ name: "a" }', '{ ids: [] }'],
  'filter: OrderFilter': ['{ complete: true }', '{ petIds: [$id] }'],
  'filter: InventoryFilter': ['{ maxQuantity: 2 }', '{ statuses: [sold, pending] }'],
  'orderBy: PetSort': ['{}', '{ field: NAME }', '{ direction: DESC }'],
  'orderBy: CategorySort': ['{ field: NAME, direction: DESC }'],
  'orderBy: OrderSort': ['{ field: SHIP_DATE }', '{ direction: DESC, field: SHIP_DATE }'],
  'orderBy: InventorySort': ['{ field: QUANTITY }'],
};

const VARIABLES = '($id: ID! = "1", $first: Int = 2, $after: String, $name: String)';

const variables = fc.record(
  {
    id: fc.constantFrom('1', '3', 4),
    first: fc.constantFrom(1, 5, 0, null),
    after: fc.constantFrom(null, 'bm8'),
    name: fc.constantFrom('e', null, 'nobody'),
  },
  { requiredKeys: [] },
);

const SHOP = ['pet', 'pets', 'category', 'categories', 'order', 'orders', 'inventoryItem', 'inventory'];

/** Random queries for the shop: nested, aliased, merged, with fragments, literals and variables. */
export function queries(schema: GraphQLSchema): fc.Arbitrary<Query> {
  const root = selection(schema.getQueryType() as GraphQLObjectType, 4, SHOP);
  return fc.record({ body: root, variables }).map(({ body, variables }) => {
    const used = ['id', 'first', 'after', 'name'].filter((name) => body.includes(`$${name}`));
    const definitions = VARIABLES.slice(1, -1)
      .split(', ')
      .filter((definition) => used.some((name) => definition.startsWith(`$${name}:`)));
    const head = definitions.length ? `query (${definitions.join(', ')})` : 'query';
    return { text: `${head} ${body}`, variables };
  });
}

function selection(type: GraphQLObjectType, depth: number, only?: string[]): fc.Arbitrary<string> {
  const fields = Object.values(type.getFields()).filter(
    (field) => (!only || only.includes(field.name)) && (depth > 0 || isLeafType(getNamedType(field.type))),
  );
  if (!fields.length) return fc.constant('{ __typename }');
  const one = fc.constantFrom(...fields).chain((field) => fieldText(field, depth));
  return fc
    .array(fc.oneof({ arbitrary: one, weight: 8 }, fc.constant('__typename')), { minLength: 1, maxLength: 4 })
    .chain((texts) =>
      fc.constantFrom(
        `{ ${texts.join(' ')} }`,
        `{ ... on ${type.name} { ${texts.join(' ')} } }`,
        `{ ${texts[0]} ... { ${texts.join(' ')} } }`,
      ),
    );
}

let aliases = 0;

function fieldText(field: GraphQLField<unknown, unknown>, depth: number): fc.Arbitrary<string> {
  const type = getNamedType(field.type);
  const args = fc
    .tuple(
      ...field.args.map(({ name, type }) => {
        const values = ARGUMENTS[`${name}: ${type}`] ?? [];
        const given = values.map((value) => `${name}: ${value}`);
        return String(type).endsWith('!') ? fc.constantFrom(...given) : fc.constantFrom('', '', '', ...given);
      }),
    )
    .map((given) => given.filter(Boolean).join(', '));
  const inner = isObjectType(type) ? selection(type, depth - 1) : fc.constant('');
  return fc.tuple(args, inner).map(([given, body]) => {
    // Fields with the same name may have different arguments, so all but plain ones get unique aliases.
    const alias = given || body ? `a${++aliases}: ` : '';
    return `${alias}${field.name}${given && `(${given})`} ${body}`.trim();
  });
}
