import type { DocumentNode, GraphQLSchema } from 'graphql';
import { isCounted } from './directives';

/**
 * Whether a document contains only queries whose root fields use no quota: introspection, `rateLimit`, `viewer`. The
 * document may be invalid.
 */
export function isFreeOfQuota(schema: GraphQLSchema, { definitions }: DocumentNode): boolean {
  const fields = schema.getQueryType()?.getFields() ?? {};
  return definitions.every((node) => {
    if (node.kind !== 'OperationDefinition') return node.kind === 'FragmentDefinition';
    return (
      node.operation === 'query' &&
      node.selectionSet.selections.every((selection) => {
        if (selection.kind !== 'Field') return false;
        const { value: name } = selection.name;
        const field = fields[name];
        return name.startsWith('__') || (field !== undefined && !isCounted(field));
      })
    );
  });
}
