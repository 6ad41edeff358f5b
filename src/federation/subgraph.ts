import { buildSubgraphSchema } from '@apollo/subgraph';
import { concatAST, type GraphQLSchema, graphqlSync, Kind, type ObjectTypeDefinitionNode, parse, visit } from 'graphql';
import { printedSchema } from '../schema/printed-schema';
import { buildSchema, rowsOf, type Services } from '../schema/schema';
import { EntityResolver } from './entity-resolver';
import { KEYS } from './representations';

/** What a router has to know beside schema.graphql: the keys, and that other subgraphs may have pages, too. */
const FEDERATION = parse(`
  extend schema @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key", "@shareable"])
`);
const TYPES = parse(`
  type PageInfo @shareable
  ${Object.entries(KEYS)
    .map(([type, key]) => `type ${type} @key(fields: "${key}")`)
    .join('\n')}
`);
const DIRECTIVES = new Map(
  TYPES.definitions.flatMap((node) =>
    node.kind === Kind.OBJECT_TYPE_DEFINITION ? [[node.name.value, node.directives ?? []]] : [],
  ),
);

/** The schema as a subgraph of Apollo Federation 2. */
export function buildSubgraph(services: Services): GraphQLSchema {
  const sdl = subgraphSdl();
  const schema = buildSchema(services, [[EntityResolver, new EntityResolver(rowsOf(services), sdl)]]);
  schema.extensions = { ...schema.extensions, sdl };
  return schema;
}

/** The schema from which supergraphs are composed. @throws Error if it is no valid subgraph. */
function subgraphSdl(): string {
  const typeDefs = concatAST([FEDERATION, visit(parse(printedSchema()), { ObjectTypeDefinition: withDirectives })]);
  const { data } = graphqlSync({ schema: buildSubgraphSchema({ typeDefs }), source: '{ _service { sdl } }' });
  return (data as { _service: { sdl: string } })._service.sdl;
}

function withDirectives(node: ObjectTypeDefinitionNode): ObjectTypeDefinitionNode {
  return { ...node, directives: [...(node.directives ?? []), ...(DIRECTIVES.get(node.name.value) ?? [])] };
}
