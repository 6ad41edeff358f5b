import {
  type DocumentNode,
  type FragmentDefinitionNode,
  type OperationDefinitionNode,
  type SelectionSetNode,
  visit,
} from 'graphql';

/** The size of a selection after expanding its fragments. */
export interface SelectionSize {
  readonly fields: number;
  /** Fields that are not nested in another field. */
  readonly outer: number;
  readonly aliases: number;
  /** Nesting levels of fields and inline fragments. */
  readonly depth: number;
}

const NOTHING: SelectionSize = { fields: 0, outer: 0, aliases: 0, depth: 0 };
/** Marks a fragment that is being measured. */
const UNDER_WAY: SelectionSize = { ...NOTHING };

/**
 * Measures a document that has been parsed but not validated. Each node is visited once, and each fragment is
 * measured once however often it is spread, so fragments that spread each other twice cost no more than others.
 */
export class DocumentSize {
  fragments = 0;
  /** Characters of the longest alias. */
  aliasLength = 0;
  directives = 0;
  /** The most directives at a single location. */
  directivesAtOnce = 0;
  /** Nesting levels of lists and objects in the deepest value. */
  valueDepth = 0;
  /** Nested lists in the deepest variable type. */
  typeDepth = 0;
  /** The name of a fragment that spreads itself, directly or indirectly. */
  circle: string | undefined;
  readonly operations: { readonly node: OperationDefinitionNode; readonly size: SelectionSize }[] = [];
  readonly fragmentDefinitions = new Map<string, FragmentDefinitionNode>();
  private readonly sizes = new Map<FragmentDefinitionNode, SelectionSize>();

  constructor(document: DocumentNode) {
    this.measureNodes(document);
    const fragments = document.definitions.filter((node) => node.kind === 'FragmentDefinition');
    this.fragments = fragments.length;
    for (const node of fragments) this.fragmentDefinitions.set(node.name.value, node);
    for (const node of fragments) this.ofFragment(node);
    for (const node of document.definitions)
      if (node.kind === 'OperationDefinition')
        this.operations.push({ node, size: this.ofSelection(node.selectionSet) });
  }

  private measureNodes(document: DocumentNode): void {
    const value = nesting((levels) => {
      this.valueDepth = Math.max(this.valueDepth, levels);
    });
    const type = nesting((levels) => {
      this.typeDepth = Math.max(this.typeDepth, levels);
    });
    visit(document, {
      enter: (node) => {
        const directives = 'directives' in node ? (node.directives?.length ?? 0) : 0;
        this.directives += directives;
        this.directivesAtOnce = Math.max(this.directivesAtOnce, directives);
      },
      ListValue: value,
      ObjectValue: value,
      ListType: type,
    });
  }

  private ofFragment(fragment: FragmentDefinitionNode): SelectionSize {
    const known = this.sizes.get(fragment);
    if (known === UNDER_WAY) this.circle = fragment.name.value;
    if (known) return known;
    this.sizes.set(fragment, UNDER_WAY);
    const size = this.ofSelection(fragment.selectionSet);
    this.sizes.set(fragment, size);
    return size;
  }

  private ofSelection(selectionSet: SelectionSetNode | undefined): SelectionSize {
    let fields = 0;
    let outer = 0;
    let aliases = 0;
    let depth = 0;
    for (const selection of selectionSet?.selections ?? []) {
      if (selection.kind === 'FragmentSpread') {
        const fragment = this.fragmentDefinitions.get(selection.name.value);
        const inner = fragment ? this.ofFragment(fragment) : NOTHING;
        fields += inner.fields;
        outer += inner.outer;
        aliases += inner.aliases;
        depth = Math.max(depth, inner.depth);
        continue;
      }
      const inner = this.ofSelection(selection.selectionSet);
      const isField = selection.kind === 'Field';
      fields += inner.fields + (isField ? 1 : 0);
      outer += isField ? 1 : inner.outer;
      aliases += inner.aliases;
      depth = Math.max(depth, inner.depth + 1);
      if (!isField) continue;
      if (selection.alias) {
        aliases++;
        this.aliasLength = Math.max(this.aliasLength, selection.alias.value.length);
      }
    }
    return { fields, outer, aliases, depth };
  }
}

/** Visits nodes of a kind that may contain each other. @param found called with how many each is in, itself included. */
function nesting(found: (levels: number) => void) {
  let levels = 0;
  return {
    enter: () => found(++levels),
    leave: () => {
      levels--;
    },
  };
}
