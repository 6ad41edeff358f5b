import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  buildSchema,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  type GraphQLType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isListType,
  isNonNullType,
  isObjectType,
  isScalarType,
  isSpecifiedDirective,
  isSpecifiedScalarType,
  isUnionType,
} from 'graphql';

const SCHEMA = readFileSync(join(__dirname, '..', '..', 'schema.graphql'), 'utf8');

const PASCAL_CASE = /^[A-Z][A-Za-z0-9]*$/;
const CAMEL_CASE = /^[a-z][A-Za-z0-9]*$/;
const UPPER_CASE = /^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$/;

/** Names of root fields that repeat their operation. The convention is `pets` rather than `getPets`. */
const REPEATED = {
  Query: /^(get|query)|Query$/,
  Mutation: /^mutation|Mutation$/,
  Subscription: /^subscription|Subscription$/,
};
const KIND_IN_NAME = /^(Enum|Interface|Union|Type)|(Enum|Interface|Union|Type)$/;

/** Object types that need no identifier. */
const WITHOUT_ID =
  /(Connection|Edge)$|^(PageInfo|CreatedApiKey|RateLimit|RateLimitWindow|Viewer|UsageDay|CallerUsage)$/;

const PAGE_INFO = {
  hasNextPage: 'Boolean!',
  hasPreviousPage: 'Boolean!',
  startCursor: 'String',
  endCursor: 'String',
};

type Fields = Record<string, GraphQLField<unknown, unknown>>;

const typeOf = (fields: Fields, name: string) => String(fields[name]?.type);

/** Violations of naming conventions, of Relay's connection specification, and of common rules of schema linters. */
function faultsOf(schema: GraphQLSchema): string[] {
  const types = Object.values(schema.getTypeMap()).filter((type) => !isIntrospectionType(type));
  const reachable = reachableFrom(schema);
  return [
    ...schema.getDirectives().flatMap(({ name, args }) => named(CAMEL_CASE, [name, ...args.map((arg) => arg.name)])),
    ...types
      .filter((type) => !isSpecifiedScalarType(type) && !reachable.has(type))
      .map(({ name }) => `${name} is unreachable`),
    ...types.flatMap((type) => [
      ...named(PASCAL_CASE, [type.name]),
      ...(KIND_IN_NAME.test(type.name) ? [`${type.name} repeats its kind`] : []),
      ...(isEnumType(type)
        ? enumFaults(
            type.name,
            type.getValues().map(({ name }) => name),
          )
        : []),
      ...(isInputObjectType(type) ? named(CAMEL_CASE, Object.keys(type.getFields())) : []),
      ...(isObjectType(type) || isInterfaceType(type) ? fieldFaults(type.name, type.getFields()) : []),
      ...(isObjectType(type) ? objectFaults(schema, type.name, type.getFields()) : []),
    ]),
  ];
}

function named(pattern: RegExp, names: readonly string[]): string[] {
  return names.filter((name) => !pattern.test(name)).map((name) => `${name} is misspelt`);
}

/** Enum values are upper case, except for PetStatus, whose values come from the petstore's specification. */
function enumFaults(type: string, values: readonly string[]): string[] {
  return named(type === 'PetStatus' ? CAMEL_CASE : UPPER_CASE, values);
}

function fieldFaults(type: string, fields: Fields): string[] {
  return Object.values(fields).flatMap(({ name, args, deprecationReason, type: output }) => {
    const field = `${type}.${name}`;
    const takes = (pair: readonly string[]) =>
      pair.every((argument) => args.some((arg) => arg.name === argument && isScalarType(getNamedType(arg.type))));
    return [
      ...named(CAMEL_CASE, [name, ...args.map((arg) => arg.name)]),
      ...(name.startsWith(type.toLowerCase()) && field !== 'Node.nodeId' ? [`${field} repeats its type`] : []),
      ...(deprecationReason === 'No longer supported' ? [`${field} is deprecated without a reason`] : []),
      ...(getNamedType(output).name.endsWith('Connection') && !takes(['first', 'after'])
        ? [`${field} has no pages`]
        : []),
    ];
  });
}

function objectFaults(schema: GraphQLSchema, type: string, fields: Fields): string[] {
  if (type in REPEATED) {
    const repeated = Object.keys(fields).filter((name) => REPEATED[type as keyof typeof REPEATED].test(name));
    return repeated.map((name) => `${type}.${name} repeats its operation`);
  }
  const ids = ['id', 'petId', 'orderId'].filter((name) => typeOf(fields, name) === 'ID!');
  const isPaged = type.endsWith('Connection');
  const isPageInfo = Object.entries(PAGE_INFO).every(([name, expected]) => typeOf(fields, name) === expected);
  return [
    ...(ids.length === 1 || WITHOUT_ID.test(type) ? [] : [`${type} has ${ids.length} identifiers`]),
    ...(isPaged ? connectionFaults(schema, type, fields) : []),
    ...(type === 'PageInfo' && !isPageInfo ? ['PageInfo is not as Relay specifies'] : []),
  ];
}

function connectionFaults(schema: GraphQLSchema, type: string, fields: Fields): string[] {
  const edges = fields.edges?.type;
  const list = isNonNullType(edges) ? edges.ofType : edges;
  const edge = edges && schema.getType(getNamedType(edges).name);
  if (!isListType(list) || !isObjectType(edge) || !edge.name.endsWith('Edge')) return [`${type} has no edges`];
  const node = edge.getFields().node?.type;
  return [
    ...(typeOf(fields, 'pageInfo') === 'PageInfo!' ? [] : [`${type} has no pageInfo`]),
    ...(!node || isListType(isNonNullType(node) ? node.ofType : node) ? [`${edge.name} has no node`] : []),
    ...(typeOf(edge.getFields(), 'cursor') === 'String!' ? [] : [`${edge.name} has no cursor`]),
  ];
}

/** The types that operations and directives can reach, as results or as arguments. */
function reachableFrom(schema: GraphQLSchema): Set<GraphQLNamedType> {
  const reached = new Set<GraphQLNamedType>();
  const visit = (type: GraphQLNamedType) => {
    if (reached.has(type)) return;
    reached.add(type);
    if (isUnionType(type) || isInterfaceType(type)) schema.getPossibleTypes(type).forEach(visit);
    if (isObjectType(type) || isInterfaceType(type)) type.getInterfaces().forEach(visit);
    if (!isObjectType(type) && !isInterfaceType(type) && !isInputObjectType(type)) return;
    for (const field of Object.values(type.getFields())) {
      const args: readonly GraphQLArgument[] = 'args' in field ? field.args : [];
      const types: GraphQLType[] = [field.type, ...args.map((arg) => arg.type)];
      for (const each of types) visit(getNamedType(each));
    }
  };
  for (const root of [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()])
    if (root) visit(root);
  for (const directive of schema.getDirectives().filter((each) => !isSpecifiedDirective(each)))
    for (const { type } of directive.args) visit(getNamedType(type));
  return reached;
}

// `buildSchema` already checks the rules of the GraphQL specification, such as known types and unique names.
test("the schema follows GraphQL's naming conventions and Relay's connection specification", () => {
  expect(faultsOf(buildSchema(SCHEMA))).toEqual([]);
});

test.each([
  ['  pets(', '  get_pets(', ['get_pets is misspelt', 'Query.get_pets repeats its operation']],
  ['type PageInfo {', 'type PageInfo { total: Float! @deprecated', ['PageInfo.total is deprecated without a reason']],
  ['hasNextPage: Boolean!', 'hasNextPage: Boolean', ['PageInfo is not as Relay specifies']],
  ['pageInfo: PageInfo!', 'page: PageInfo!', ['PetConnection has no pageInfo']],
  ['edges: [PetEdge!]!', 'edge: PetEdge!', ['PetConnection has no edges']],
  ['cursor: String!', 'at: String!', ['PetEdge has no cursor']],
  ['enum SortDirection {', 'enum SortDirection { other', ['other is misspelt']],
  ['type Pet implements Node {', 'type Pet implements Node { petName: String!', ['Pet.petName repeats its type']],
  ['type Query {', 'type Query { all: PetConnection!', ['Query.all has no pages']],
  [
    'type Query {',
    'type NamedType { id: ID } type Query { one: NamedType',
    ['NamedType repeats its kind', 'NamedType has 0 identifiers'],
  ],
  ['type Query {', 'enum Unused { ONE } type Query {', ['Unused is unreachable']],
])('a violation is found after replacing %s by %s', (found, replacement, faults) => {
  expect(SCHEMA).toContain(found);
  expect(faultsOf(buildSchema(SCHEMA.replace(found, replacement)))).toEqual(faults);
});
