import type { FieldNode, FragmentDefinitionNode, GraphQLResolveInfo, SelectionSetNode } from 'graphql';

type Fragments = GraphQLResolveInfo['fragments'];

/** Documents are kept and run many times: what a field's selection asks for is read off it once. */
const known = new WeakMap<FieldNode, ReadonlySet<string>>();

/**
 * The names of the fields that this field's selection asks of each row: of a connection, those of its nodes.
 * `@skip` and `@include` are passed over: a name more reads a column more, never one less.
 */
export function requestedFields(
  info: Pick<GraphQLResolveInfo, 'fieldNodes' | 'fragments'>,
): ReadonlySet<string> {
  const { fieldNodes, fragments } = info;
  const [only] = fieldNodes;
  if (!only || fieldNodes.length > 1)
    return new Set(fieldNodes.flatMap((node) => [...ofNode(node, fragments)]));
  let names = known.get(only);
  if (!names) {
    names = ofNode(only, fragments);
    known.set(only, names);
  }
  return names;
}

function ofNode(node: FieldNode, fragments: Fragments): Set<string> {
  const names = new Set<string>();
  collect(node.selectionSet, fragments, names);
  return names;
}

function collect(selectionSet: SelectionSetNode | undefined, fragments: Fragments, names: Set<string>): void {
  for (const selection of selectionSet?.selections ?? []) {
    if (selection.kind === 'Field') {
      const name = selection.name.value;
      if (name === 'nodes' || name === 'edges' || name === 'node')
        collect(selection.selectionSet, fragments, names);
      else names.add(name);
    } else {
      const fragment: { selectionSet: SelectionSetNode } | undefined =
        selection.kind === 'InlineFragment'
          ? selection
          : (fragments[selection.name.value] as FragmentDefinitionNode);
      collect(fragment?.selectionSet, fragments, names);
    }
  }
}
