import type {
  ArgumentNode,
  DirectiveNode,
  DocumentNode,
  FragmentDefinitionNode,
  OperationDefinitionNode,
  SelectionSetNode,
  TypeNode,
  ValueNode,
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

  constructor({ definitions }: DocumentNode) {
    for (const node of definitions) {
      if (node.kind !== 'FragmentDefinition') continue;
      this.fragments++;
      this.fragmentDefinitions.set(node.name.value, node);
    }
    for (const node of definitions) {
      if (node.kind === 'FragmentDefinition') this.ofFragment(node);
      if (node.kind === 'OperationDefinition') this.operations.push({ node, size: this.ofOperation(node) });
    }
  }

  private ofOperation({ directives, variableDefinitions, selectionSet }: OperationDefinitionNode): SelectionSize {
    this.countDirectives(directives);
    for (const variable of variableDefinitions ?? []) {
      this.countDirectives(variable.directives);
      this.measureType(variable.type);
      if (variable.defaultValue) this.measureValue(variable.defaultValue);
    }
    return this.ofSelection(selectionSet);
  }

  private ofFragment(fragment: FragmentDefinitionNode): SelectionSize {
    const known = this.sizes.get(fragment);
    if (known === UNDER_WAY) this.circle = fragment.name.value;
    if (known) return known;
    this.sizes.set(fragment, UNDER_WAY);
    this.countDirectives(fragment.directives);
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
      this.countDirectives(selection.directives);
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
      this.measureArguments(selection.arguments);
    }
    return { fields, outer, aliases, depth };
  }

  private countDirectives(directives: readonly DirectiveNode[] | undefined): void {
    if (!directives?.length) return;
    this.directives += directives.length;
    this.directivesAtOnce = Math.max(this.directivesAtOnce, directives.length);
    for (const directive of directives) this.measureArguments(directive.arguments);
  }

  private measureArguments(given: readonly ArgumentNode[] | undefined): void {
    for (const { value } of given ?? []) this.measureValue(value);
  }

  private measureType(type: TypeNode): void {
    let depth = 0;
    for (let inner = type; inner.kind !== 'NamedType'; inner = inner.type) if (inner.kind === 'ListType') depth++;
    this.typeDepth = Math.max(this.typeDepth, depth);
  }

  private measureValue(value: ValueNode, depth = 0): void {
    this.valueDepth = Math.max(this.valueDepth, depth);
    if (value.kind === 'ListValue') for (const item of value.values) this.measureValue(item, depth + 1);
    if (value.kind === 'ObjectValue') for (const field of value.fields) this.measureValue(field.value, depth + 1);
  }
}
