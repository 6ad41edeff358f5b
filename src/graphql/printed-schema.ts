import { getDocumentNodeFromSchema } from '@graphql-tools/utils';
import { type DefinitionNode, type GraphQLSchema, Kind, print } from 'graphql';

/**
 * Prints a schema with its directives, for example to compose a supergraph. The root types come first, then the other types
 * in the order in which the root fields lead to them, then the directive definitions.
 */
export function printed(schema: GraphQLSchema): string {
  if (typeof schema.extensions.sdl === 'string') return schema.extensions.sdl;
  const roots = ['Query', 'Mutation', 'Subscription'];
  const found = Object.keys(schema.getTypeMap());
  const order = [...roots, ...found.filter((name) => !roots.includes(name))];
  const place = (node: DefinitionNode) => {
    if (node.kind === Kind.SCHEMA_DEFINITION) return -1;
    const index =
      'name' in node && node.kind !== Kind.DIRECTIVE_DEFINITION ? order.indexOf(String(node.name?.value)) : -1;
    return index === -1 ? order.length : index;
  };
  const { definitions } = getDocumentNodeFromSchema(schema);
  return `${print({ kind: Kind.DOCUMENT, definitions: definitions.toSorted((a, b) => place(a) - place(b)) })}\n`;
}
