import { buildSubgraphSchema } from '@apollo/subgraph';
import { concatAST, type GraphQLSchema, graphqlSync, parse } from 'graphql';
import { printedSchema } from '../graphql/printed-schema';
import { buildSchema, rowsOf, type Services } from '../graphql/schema';
import { EntityResolver } from './entity-resolver';
import { KEYS } from './representations';

/** What a router has to know beside schema.graphql: the keys. */
const FEDERATION = parse(`
  extend schema @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key", "@shareable"])
  ${Object.entries(KEYS)
    .map(([type, key]) => `extend type ${type} @key(fields: "${key}")`)
    .join('\n')}
`);

/** The schema as a subgraph of Apollo Federation 2. */
export function buildSubgraph(services: Services): GraphQLSchema {
  const sdl = subgraphSdl();
  const schema = buildSchema(services, [[EntityResolver, new EntityResolver(rowsOf(services), sdl)]]);
  schema.extensions = { ...schema.extensions, sdl };
  return schema;
}

/** The schema from which supergraphs are composed. @throws Error if it is no valid subgraph. */
function subgraphSdl(): string {
  // Other subgraphs may have pages, too. What is said of a type's extension would not be said of its fields.
  const printed = printedSchema().replace(/^type PageInfo /m, '$&@shareable ');
  const typeDefs = concatAST([FEDERATION, parse(printed)]);
  const { data } = graphqlSync({ schema: buildSubgraphSchema({ typeDefs }), source: '{ _service { sdl } }' });
  return (data as { _service: { sdl: string } })._service.sdl;
}
