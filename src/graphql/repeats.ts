import type { FieldNode, FragmentDefinitionNode, OperationDefinitionNode, SelectionSetNode } from 'graphql';

/**
 * The response key that an operation selects most often in one place, with fragments expanded and equal fields
 * merged. Validation compares all these field nodes pairwise.
 * @param fragments the document's fragments by name, without cycles. The operation must have few fields once
 * expanded.
 */
export function mostRepeated(
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
  operation: OperationDefinitionNode,
): { readonly key: string; readonly times: number } {
  let most = { key: '', times: 0 };

  const collect = (selectionSet: SelectionSetNode, place: Map<string, FieldNode[]>, spread: Set<string>): void => {
    for (const selection of selectionSet.selections) {
      if (selection.kind === 'Field') {
        const key = (selection.alias ?? selection.name).value;
        const same = place.get(key);
        if (same) same.push(selection);
        else place.set(key, [selection]);
      } else if (selection.kind === 'InlineFragment') {
        collect(selection.selectionSet, place, spread);
      } else if (!spread.has(selection.name.value)) {
        spread.add(selection.name.value);
        const fragment = fragments.get(selection.name.value);
        if (fragment) collect(fragment.selectionSet, place, spread);
      }
    }
  };
  const visit = (selectionSets: readonly SelectionSetNode[]): void => {
    const place = new Map<string, FieldNode[]>();
    const spread = new Set<string>();
    for (const selectionSet of selectionSets) collect(selectionSet, place, spread);
    for (const [key, fields] of place) {
      if (fields.length > most.times) most = { key, times: fields.length };
      const inner = fields.flatMap((field) => field.selectionSet ?? []);
      if (inner.length) visit(inner);
    }
  };
  visit([operation.selectionSet]);
  return most;
}
