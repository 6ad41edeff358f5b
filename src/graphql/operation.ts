import {
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  getOperationAST,
  getVariableValues,
  Kind,
  type OperationDefinitionNode,
  visit,
} from 'graphql';
import type { JsonFormat } from '../database/reading/selection';
import { type Analysis, analyse, type Source } from './analysis';
import { type Notice, noticeFor } from './annotations';
import type { Variables } from './context';
import { type Rewritten, rewrite, type Tables } from './leaves';

/** Maximum number of variants of one operation. */
const MAX_VARIANTS = 16;

/** An operation for one combination of the values of the variables in `@skip` and `@include`. */
export interface Variant extends Analysis {
  /**
   * Returns the document with its plain root fields replaced by leaves (leaves.ts); `undefined` if it has no plain root
   * fields.
   */
  withLeaves(format: JsonFormat): Rewritten | undefined;
}

/** One operation of a validated document, with everything that can be computed before it runs. */
export class Operation implements Source {
  readonly name: string | undefined;
  /** The kind and the root field: `query pets`, `mutation (several)`. The number of different labels is bounded. */
  readonly label: string;
  /** The notice about the deprecated and unstable elements that the operation names. */
  readonly notice: Notice | undefined;
  /** The variables that `@skip` and `@include` depend on. */
  private readonly conditions: readonly string[];
  private readonly variants = new Map<string, Variant>();
  readonly fragments: Record<string, FragmentDefinitionNode> = {};

  constructor(
    readonly schema: GraphQLSchema,
    readonly document: DocumentNode,
    readonly node: OperationDefinitionNode,
    private readonly tables: Tables = new Map(),
  ) {
    this.name = node.name?.value;
    this.label = `${node.operation} ${rootFieldOf(node)}`;
    for (const definition of document.definitions) {
      if (definition.kind === Kind.FRAGMENT_DEFINITION) this.fragments[definition.name.value] = definition;
    }
    this.conditions = conditionsOf(document);
    this.notice = noticeFor(schema, document, node);
  }

  get kind(): OperationDefinitionNode['operation'] {
    return this.node.operation;
  }

  /** The coerced variables (GraphQL, section 6.1.2); `undefined` if they are invalid. */
  coerce(variables: Variables): Variables | undefined {
    const definitions = this.node.variableDefinitions ?? [];
    return definitions.length ? getVariableValues(this.schema, definitions, variables, { maxErrors: 1 }).coerced : {};
  }

  /**
   * The variant for these variables. The analysis of each variant is cached.
   * @param coerced `undefined` if the variables are invalid.
   * @returns `undefined` if the variant depends on invalid variables.
   */
  variant(coerced: Variables | undefined): Variant | undefined {
    if (!coerced && this.conditions.length) return undefined;
    let key = '';
    for (const name of this.conditions) key += coerced?.[name] ? 1 : 0;
    let variant = this.variants.get(key);
    if (!variant) {
      variant = this.variantUnder(coerced ?? {});
      if (this.variants.size === MAX_VARIANTS) this.variants.clear();
      this.variants.set(key, variant);
    }
    return variant;
  }

  private variantUnder(conditions: Variables): Variant {
    const analysis = analyse(this, conditions);
    const known = new Map<JsonFormat, Rewritten | undefined>();
    return {
      ...analysis,
      withLeaves: (format) => {
        if (!known.has(format)) known.set(format, rewrite(this, analysis, this.tables, format));
        return known.get(format);
      },
    };
  }
}

/** A cache of operations, which are kept as long as their document is referenced. */
export class Operations {
  private readonly known = new WeakMap<DocumentNode, Map<string | undefined, Operation>>();

  constructor(
    private readonly schema: GraphQLSchema,
    private readonly tables: Tables,
  ) {}

  /**
   * Finds the operation with this name. Without a name, finds the only operation of the document. Returns `undefined` if
   * there is no such operation.
   */
  find(document: DocumentNode, operationName: string | null | undefined): Operation | undefined {
    let operations = this.known.get(document);
    if (!operations) {
      operations = new Map();
      this.known.set(document, operations);
    }
    const name = operationName ?? undefined;
    const known = operations.get(name);
    if (known) return known;
    const node = getOperationAST(document, name);
    if (!node) return undefined;
    const operation = new Operation(this.schema, document, node, this.tables);
    operations.set(name, operation);
    return operation;
  }
}

/**
 * The root field that a validated operation selects, ignoring aliases; `(several)` if the operation selects different
 * fields or a fragment.
 */
function rootFieldOf({ selectionSet }: OperationDefinitionNode): string {
  const fields = selectionSet.selections.map((each) => (each.kind === 'Field' ? each.name.value : undefined));
  const [first] = fields;
  return first !== undefined && fields.every((field) => field === first) ? first : '(several)';
}

/** Maximum number of variants of an operation of this document. */
export function mostVariants(document: DocumentNode): number {
  return Math.min(MAX_VARIANTS, 2 ** conditionsOf(document).length);
}

/** The names of the variables that `@skip` and `@include` depend on. */
function conditionsOf(document: DocumentNode): readonly string[] {
  const names = new Set<string>();
  visit(document, {
    Directive: ({ name, arguments: [argument] = [] }) => {
      const isCondition = name.value === 'skip' || name.value === 'include';
      if (isCondition && argument?.value.kind === Kind.VARIABLE) names.add(argument.value.name.value);
    },
  });
  return [...names];
}
