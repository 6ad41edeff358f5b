import {
  type FragmentDefinitionNode,
  GraphQLError,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
  SingleFieldSubscriptionsRule,
  type ValidationRule,
} from 'graphql';

const CONDITIONAL = 'A subscription must not have @skip or @include on its root field.';

/**
 * Requires subscriptions to have one root field, without conditions (GraphQL September 2025, section 5.2.4.1). The rule of
 * graphql-js 16 does not know about conditions, and throws if they depend on variables.
 */
export const subscriptionRule: ValidationRule = (context) => {
  const { OperationDefinition: checkFields } = SingleFieldSubscriptionsRule(context) as {
    OperationDefinition(node: object): void;
  };
  return {
    OperationDefinition: (node) => {
      if (node.operation !== 'subscription') return;
      const fragments = new Map<string, FragmentDefinitionNode>();
      for (const each of context.getDocument().definitions)
        if (each.kind === Kind.FRAGMENT_DEFINITION) fragments.set(each.name.value, each);
      const conditional = conditionalSelections(node.selectionSet, fragments);
      if (conditional.length) context.reportError(new GraphQLError(CONDITIONAL, { nodes: conditional }));
      else checkFields(node);
    },
  };
};

/** The root selections with `@skip` or `@include`. A fragment is searched once, since fragments may spread each other. */
function conditionalSelections(
  root: SelectionSetNode,
  fragments: Map<string, FragmentDefinitionNode>,
): SelectionNode[] {
  const found: SelectionNode[] = [];
  const open = [root];
  for (const { selections } of open) {
    for (const selection of selections) {
      if (selection.directives?.some(({ name }) => name.value === 'skip' || name.value === 'include'))
        found.push(selection);
      if (selection.kind === Kind.INLINE_FRAGMENT) open.push(selection.selectionSet);
      if (selection.kind !== Kind.FRAGMENT_SPREAD) continue;
      const fragment = fragments.get(selection.name.value);
      fragments.delete(selection.name.value);
      if (fragment) open.push(fragment.selectionSet);
    }
  }
  return found;
}
