import type { DocumentNode, GraphQLSchema } from 'graphql';
import { isCounted } from './directives';

/** Whether a document, validated or not, has only queries of fields that use no quota: introspection, `rateLimit`, `viewer`. */
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
