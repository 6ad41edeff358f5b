import {
  type DocumentNode,
  type FragmentDefinitionNode,
  GraphQLError,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  type SelectionSetNode,
} from 'graphql';

/** Maximum number of fields, and of root fields, of an operation after expanding its fragments. */
const MAX_FIELDS = 2000;
const MAX_ROOT_FIELDS = 100;
/** Maximum number of fields of an operation whose root fields all use no quota. */
const MAX_FREE_FIELDS = 500;

/**
 * Maximum number of comparisons of fields that have the same response name. graphql-js also has such a limit, which includes
 * fragments, but it takes much longer to reach this limit.
 */
const MAX_COMPARISONS = 200_000;

/** The size of a selection after expanding its fragments. */
interface SelectionSize {
  readonly fields: number;
  /** Fields that are not nested in another field. */
  readonly rootFields: number;
  /** Nesting levels of fields and inline fragments. */
  readonly depth: number;
  /** Whether a field that is not nested has the name of a root field that uses quota. */
  readonly usesQuota: boolean;
}

const EMPTY: SelectionSize = { fields: 0, rootFields: 0, depth: 0, usesQuota: false };

/**
 * The errors of a parsed document that is too large to be validated. A separate limit bounds the estimated cost.
 * @param isFree whether the root field of queries with this name uses no quota.
 */
export function limitErrors(
  document: DocumentNode,
  maxDepth: number,
  isFree: (field: string) => boolean,
): GraphQLError[] {
  const errors = operationSizes(document, isFree).flatMap(({ node, size, usesQuota }) => {
    const limit = (what: string, number: number, unit: string, most: number) => {
      if (number <= most) return [];
      const message = `The operation ${what} ${number} ${unit}; at most ${most} are allowed.`;
      return new GraphQLError(message, { nodes: node, extensions: TOO_COMPLEX });
    };
    return [
      limit('is', size.depth, 'levels deep', maxDepth),
      usesQuota
        ? limit('has', size.fields, 'fields', MAX_FIELDS)
        : limit('uses no quota and has', size.fields, 'fields', MAX_FREE_FIELDS),
      limit('has', size.rootFields, 'root fields', MAX_ROOT_FIELDS),
    ].flat();
  });
  return repeatsTooOften(document) ? [...errors, new GraphQLError(REPEATS)] : errors;
}

const TOO_COMPLEX = { code: 'OPERATION_TOO_COMPLEX' };

export const REPEATS = 'The document repeats fields or fragments too often to be validated.';

/**
 * Whether a document repeats response names so often that comparing their fields takes too long. Validation compares each
 * field, including the fields nested in it, to each earlier field of the same name. Fragments count as if they were not spread.
 */
function repeatsTooOften({ definitions }: DocumentNode): boolean {
  let comparisons = 0;
  /** Counts the comparisons. @returns the number of fields in the selection, nested fields included. */
  const count = (selectionSet: SelectionSetNode | undefined, earlier = new Map<string, number>()): number => {
    let fields = 0;
    for (const selection of selectionSet?.selections ?? []) {
      if (selection.kind === Kind.FRAGMENT_SPREAD) continue;
      if (selection.kind === Kind.INLINE_FRAGMENT) {
        fields += count(selection.selectionSet, earlier);
        continue;
      }
      const size = 1 + count(selection.selectionSet);
      const { value: name } = selection.alias ?? selection.name;
      const same = earlier.get(name) ?? 0;
      earlier.set(name, same + 1);
      comparisons += same * size;
      fields += size;
    }
    return fields;
  };
  for (const definition of definitions) if ('selectionSet' in definition) count(definition.selectionSet);
  return comparisons > MAX_COMPARISONS;
}

/** Whether any operation of a document uses quota. @param isFree as for {@link limitErrors}. */
export function usesQuota(document: DocumentNode, isFree: (field: string) => boolean): boolean {
  return operationSizes(document, isFree).some((operation) => operation.usesQuota);
}

/** The number of fields of all operations of a document, after expanding fragments. */
export function fieldsOf(document: DocumentNode): number {
  return operationSizes(document).reduce((sum, { size }) => sum + size.fields, 0);
}

/**
 * The size of each operation of a parsed document. The document may be invalid: a fragment that spreads itself counts as
 * empty inside itself. Each fragment is measured once, even if it is spread several times.
 */
function operationSizes({ definitions }: DocumentNode, isFree = (_field: string) => false) {
  const fragments = new Map<string, FragmentDefinitionNode>();
  const known = new Map<string, SelectionSize>();
  const ofFragment = (name: string): SelectionSize => {
    const before = known.get(name);
    if (before) return before;
    known.set(name, EMPTY);
    const size = ofSelection(fragments.get(name)?.selectionSet);
    known.set(name, size);
    return size;
  };
  const ofSelection = (selectionSet: SelectionSetNode | undefined): SelectionSize => {
    let fields = 0;
    let rootFields = 0;
    let depth = 0;
    let usesQuota = false;
    for (const selection of selectionSet?.selections ?? []) {
      const isField = selection.kind === Kind.FIELD;
      const isSpread = selection.kind === Kind.FRAGMENT_SPREAD;
      const inner = isSpread ? ofFragment(selection.name.value) : ofSelection(selection.selectionSet);
      fields += inner.fields + (isField ? 1 : 0);
      rootFields += isField ? 1 : inner.rootFields;
      depth = Math.max(depth, inner.depth + (isSpread ? 0 : 1));
      usesQuota ||= isField ? !isFree(selection.name.value) : inner.usesQuota;
    }
    return { fields, rootFields, depth, usesQuota };
  };
  for (const node of definitions) if (node.kind === Kind.FRAGMENT_DEFINITION) fragments.set(node.name.value, node);
  const operations = definitions.filter(
    (node): node is OperationDefinitionNode => node.kind === Kind.OPERATION_DEFINITION,
  );
  return operations.map((node) => {
    const size = ofSelection(node.selectionSet);
    return { node, size, usesQuota: node.operation !== OperationTypeNode.QUERY || size.usesQuota };
  });
}
