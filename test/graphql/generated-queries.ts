import fc from 'fast-check';
import {
  __Schema,
  type GraphQLField,
  type GraphQLInterfaceType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isCompositeType,
  isInterfaceType,
  isLeafType,
  isUnionType,
} from 'graphql';

/** A valid query for the schema, and its variables. */
export interface Query {
  text: string;
  variables: Record<string, unknown>;
}

/** Possible values of each argument, some with the variables of {@link VARIABLES}. The gateway rejects some of the values. */
const ARGUMENTS: Readonly<Record<string, readonly string[]>> = {
  'id: ID!': ['1', '"2"', '999', '$id'],
  // The nodeIds of Pet:1, Pet:2, Category:1, Order:1, InventoryItem:1 and Pet:999. Numbers are not nodeIds.
  'node(id: ID!)': [
    '"UGV0OjE"',
    '"Q2F0ZWdvcnk6MQ"',
    '"T3JkZXI6MQ"',
    '"SW52ZW50b3J5SXRlbTox"',
    '"UGV0Ojk5OQ"',
    '1',
    '$id',
  ],
  'nodes(ids: [ID!]!)': [
    '[]',
    '["UGV0OjE", "Q2F0ZWdvcnk6MQ", "UGV0OjI", "UGV0OjE"]',
    '["T3JkZXI6MQ", "UGV0Ojk5OQ", "SW52ZW50b3J5SXRlbTox"]',
    '["UGV0OjE", 7]',
    '"UGV0OjI"',
  ],
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
  'includeDeprecated: Boolean': ['true', 'false'],
  'includeDeprecated: Boolean!': ['true', 'false'],
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

const SHOP = [
  'node',
  'nodes',
  'pet',
  'pets',
  'category',
  'categories',
  'order',
  'orders',
  'inventoryItem',
  'inventory',
];

/** Random queries for the shop: nested, aliased, merged, with fragments, literals and variables. */
export function queries(schema: GraphQLSchema): fc.Arbitrary<Query> {
  const root = selection(schema, schema.getQueryType() as GraphQLObjectType, 4, SHOP);
  return fc.record({ body: root, variables }).map(({ body, variables }) => {
    const used = ['id', 'first', 'after', 'name'].filter((name) => body.includes(`$${name}`));
    const definitions = VARIABLES.slice(1, -1)
      .split(', ')
      .filter((definition) => used.some((name) => definition.startsWith(`$${name}:`)));
    const head = definitions.length ? `query (${definitions.join(', ')})` : 'query';
    return { text: `${head} ${body}`, variables };
  });
}

/** Random queries of these root fields, without variables and without these fields. */
export function selections(schema: GraphQLSchema, roots: string[], without: string[]): fc.Arbitrary<string> {
  const names = new RegExp(`\\b(?:${without.join('|')})\\b`, 'g');
  const bodies = literal(selection(schema, schema.getQueryType() as GraphQLObjectType, 5, roots));
  return bodies.map((body) => body.replace(names, '__typename'));
}

/** Random mutations of the shop, each with a random selection of its payload. Some are rejected. */
export function mutations(schema: GraphQLSchema): fc.Arbitrary<string> {
  const fields = MUTATIONS.map((text) => {
    const name = text.slice(0, text.indexOf('('));
    const payload = getNamedType(schema.getMutationType()?.getFields()[name]?.type) as GraphQLObjectType;
    return literal(selection(schema, payload, 3)).map((body) => `${text} ${body}`);
  });
  return fc
    .array(fc.oneof(...fields), { minLength: 1, maxLength: 3 })
    .map((texts) => `mutation { ${texts.map((text, index) => `m${index}: ${text}`).join(' ')} }`);
}

const MUTATIONS = [
  'createPet(input: { name: "Mia", categoryId: 1 })',
  'createPet(input: { name: "Mia", categoryId: 999 })',
  'updatePet(id: 1, input: { name: "Max", status: sold })',
  'deletePet(id: 2)',
  'createCategory(input: { name: "Fish" })',
  'updateCategory(id: 2, input: { description: null })',
  'deleteCategory(id: 1)',
  'placeOrder(input: { petId: 1, quantity: 1 })',
  'placeOrder(input: { petId: 1, quantity: 1000000 })',
  'updateOrder(id: 1, input: { petId: 3, quantity: 2 })',
  'updateOrder(id: 1, input: { complete: true })',
  'cancelOrder(id: 1)',
  'setInventory(petId: 3, input: { quantity: 5 })',
  'removeInventory(petId: 3)',
];

/** Random subscriptions to changes of the shop. */
export function subscriptions(schema: GraphQLSchema): fc.Arbitrary<string> {
  const change = (field: string, row: string, type: string) =>
    rows(schema, schema.getType(type) as GraphQLObjectType, 4).map(
      (body) => `subscription { ${field} { kind ${row} ${body} } }`,
    );
  return fc.oneof(
    change('petChanged', 'pet', 'Pet'),
    change('orderChanged', 'order', 'Order'),
    change('inventoryChanged', 'item', 'InventoryItem'),
  );
}

/** A random selection of columns and single related rows. */
function rows(schema: GraphQLSchema, type: GraphQLObjectType, depth: number): fc.Arbitrary<string> {
  const fields = Object.values(type.getFields()).filter(({ args }) => !args.length);
  const one = fc.constantFrom(...fields).chain((field) => {
    const inner = getNamedType(field.type);
    if (isLeafType(inner)) return fc.constant(field.name);
    if (!depth) return fc.constant('__typename');
    const body = rows(schema, inner as GraphQLObjectType, depth - 1);
    return body.map((text) => `a${++aliases}: ${field.name} ${text}`);
  });
  return fc.array(one, { minLength: 1, maxLength: 4 }).map((texts) => `{ ${texts.join(' ')} }`);
}

/** Replaces variables by literals. */
function literal(bodies: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const values: Readonly<Record<string, string>> = { id: '1', first: '2', after: 'null', name: '"e"' };
  return bodies.map((body) => body.replace(/\$(\w+)/g, (_, name: string) => values[name] ?? 'null'));
}

/** Random introspection of the schema. */
export function introspections(schema: GraphQLSchema): fc.Arbitrary<string> {
  return selection(schema, __Schema, 5).map((body) => `{ __schema ${body} }`);
}

function selection(
  schema: GraphQLSchema,
  type: GraphQLObjectType | GraphQLInterfaceType,
  depth: number,
  only?: string[],
): fc.Arbitrary<string> {
  const fields = Object.values(type.getFields()).filter(
    (field) => (!only || only.includes(field.name)) && (depth > 0 || isLeafType(getNamedType(field.type))),
  );
  if (!fields.length) return fc.constant('{ __typename }');
  const one = fc.constantFrom(...fields).chain((field) => fieldText(schema, field, depth));
  const inside = isInterfaceType(type)
    ? [...schema.getPossibleTypes(type), type].map((each) => ({ arbitrary: fragment(schema, each, depth), weight: 6 }))
    : [];
  return fc
    .array(fc.oneof({ arbitrary: one, weight: 8 }, ...inside, fc.constant('__typename')), {
      minLength: 1,
      maxLength: 4,
    })
    .chain((texts) =>
      fc.constantFrom(
        `{ ${texts.join(' ')} }`,
        `{ ... on ${type.name} { ${texts.join(' ')} } }`,
        `{ ${texts[0]} ... { ${texts.join(' ')} } }`,
      ),
    );
}

/** An inline fragment in a selection on an interface: for one of its types, or for the interface itself. */
function fragment(
  schema: GraphQLSchema,
  type: GraphQLObjectType | GraphQLInterfaceType,
  depth: number,
): fc.Arbitrary<string> {
  if (isInterfaceType(type)) return fc.constant(`... on ${type.name} { nodeId __typename }`);
  return selection(schema, type, depth).map((body) => `... on ${type.name} ${body}`);
}

let aliases = 0;

function fieldText(schema: GraphQLSchema, field: GraphQLField<unknown, unknown>, depth: number): fc.Arbitrary<string> {
  const type = getNamedType(field.type);
  const args = fc
    .tuple(
      ...field.args.map(({ name, type }) => {
        const values = ARGUMENTS[`${field.name}(${name}: ${type})`] ?? ARGUMENTS[`${name}: ${type}`] ?? [];
        const given = values.map((value) => `${name}: ${value}`);
        return String(type).endsWith('!') ? fc.constantFrom(...given) : fc.constantFrom('', '', '', ...given);
      }),
    )
    .map((given) => given.filter(Boolean).join(', '));
  const inner = isCompositeType(type) && !isUnionType(type) ? selection(schema, type, depth - 1) : fc.constant('');
  return fc.tuple(args, inner).map(([given, body]) => {
    // Fields of the same name can have different arguments, so fields with arguments or selections get unique aliases.
    const alias = given || body ? `a${++aliases}: ` : '';
    return `${alias}${field.name}${given && `(${given})`} ${body}`.trim();
  });
}
