import type { FieldNode, GraphQLResolveInfo, SelectionSetNode } from 'graphql';
import type { Fields } from '../database/projection';

/** What a resolver knows about its selection; `fields` is set if it was computed beforehand. */
type Asking = Pick<GraphQLResolveInfo, 'fieldNodes' | 'fragments'> & { readonly fields?: Fields };
type Fragments = GraphQLResolveInfo['fragments'];
type Tree = Map<string, Tree>;

/** Documents are cached and run many times, so the fields of each selection are computed once. */
const known = new WeakMap<FieldNode, Fields>();

/**
 * The fields that this field's selection requests of each row; for a connection, of its nodes. `@skip` and
 * `@include` are ignored: that may read a column too many, never one too few.
 */
export function requestedFields(info: Asking): Fields {
  const { fieldNodes, fragments, fields: asked } = info;
  if (asked) return asked;
  const [only] = fieldNodes;
  if (!only || fieldNodes.length > 1) return treeOf(fieldNodes, fragments);
  let fields = known.get(only);
  if (!fields) {
    fields = treeOf(fieldNodes, fragments);
    known.set(only, fields);
  }
  return fields;
}

function treeOf(nodes: readonly FieldNode[], fragments: Fragments): Tree {
  const tree: Tree = new Map();
  const spread = new Set<string>();
  for (const { selectionSet } of nodes) collect(selectionSet, fragments, tree, spread);
  return tree;
}

/** @param spread the fragments already collected into `tree`. */
function collect(
  selectionSet: SelectionSetNode | undefined,
  fragments: Fragments,
  tree: Tree,
  spread: Set<string>,
): void {
  for (const selection of selectionSet?.selections ?? []) {
    if (selection.kind === 'FragmentSpread') {
      const name = selection.name.value;
      if (spread.has(name)) continue;
      spread.add(name);
      collect(fragments[name]?.selectionSet, fragments, tree, spread);
    } else if (selection.kind === 'InlineFragment' || LAYERS.has(selection.name.value)) {
      collect(selection.selectionSet, fragments, tree, spread);
    } else {
      const name = selection.name.value;
      const inner = tree.get(name) ?? new Map();
      tree.set(name, inner);
      collect(selection.selectionSet, fragments, inner, new Set());
    }
  }
}

/** The fields between a connection and its rows. */
const LAYERS = new Set(['nodes', 'edges', 'node']);
