import {
  type ASTVisitor,
  type FragmentDefinitionNode,
  GraphQLError,
  type SelectionSetNode,
  type ValidationContext,
} from 'graphql';

/** How many tokens a document may have; the parser stops at the next. */
export const MAX_TOKENS = 5_000;
/** How deep fields may stand. Introspection of types within types is the deepest that tools send: 15. */
const MAX_DEPTH = 20;
/** How many fields an operation may come to once its fragments are spread. */
const MAX_FIELDS = 2_000;

interface Size {
  readonly fields: number;
  readonly depth: number;
}

const NOTHING: Size = { fields: 0, depth: 0 };

/**
 * Refuses operations that are too deep or come to too many fields. A fragment is measured once however often it is spread,
 * so a document of fragments that spread each other twice takes no longer than another of its length.
 */
export function limitDocument(context: ValidationContext): ASTVisitor {
  const measured = new Map<string, Size>();

  const measure = (selectionSet: SelectionSetNode | undefined): Size => {
    let fields = 0;
    let depth = 0;
    for (const selection of selectionSet?.selections ?? []) {
      const isField = selection.kind === 'Field';
      const inner =
        selection.kind === 'FragmentSpread'
          ? measureFragment(context.getFragment(selection.name.value))
          : measure(selection.selectionSet);
      fields += inner.fields + (isField ? 1 : 0);
      depth = Math.max(depth, inner.depth + (isField ? 1 : 0));
    }
    return { fields, depth };
  };

  const measureFragment = (fragment: FragmentDefinitionNode | null | undefined): Size => {
    if (!fragment) return NOTHING;
    const name = fragment.name.value;
    let size = measured.get(name);
    if (!size) {
      // A fragment within itself is another rule's to refuse.
      measured.set(name, NOTHING);
      size = measure(fragment.selectionSet);
      measured.set(name, size);
    }
    return size;
  };

  return {
    OperationDefinition(node) {
      const { fields, depth } = measure(node.selectionSet);
      const refuse = (message: string) =>
        context.reportError(
          new GraphQLError(message, { nodes: node, extensions: { code: 'OPERATION_TOO_COMPLEX' } }),
        );
      if (depth > MAX_DEPTH)
        refuse(`The operation is ${depth} fields deep; at most ${MAX_DEPTH} are allowed.`);
      if (fields > MAX_FIELDS)
        refuse(`The operation comes to ${fields} fields; at most ${MAX_FIELDS} are allowed.`);
    },
  };
}
