import { collectFields, collectSubFields } from '@graphql-tools/utils';
import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  getOperationAST,
  getVariableValues,
  isInputType,
  isLeafType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  SchemaMetaFieldDef,
  TypeMetaFieldDef,
  TypeNameMetaFieldDef,
  typeFromAST,
  visit,
} from 'graphql';
import type { FieldSelection, JsonFormat } from '../database/reading/selection';
import {
  dependsOnPosition,
  type Element,
  isDeeper,
  type OperationSource,
  placesOf,
  positionErrors,
  variablesWithoutNull,
} from '../errors/input-checks';
import type { Scope } from './caller';
import { type CoercedVariables, GRAPHQL_API, NO_VARIABLES, type SentVariables } from './context';
import { type Estimate, FieldCosts } from './cost';
import { isCounted, requiredScope, type StabilityLevel, stabilityOf } from './directives';
import { type Rewritten, rewrite, type Tables } from './leaves';
import { type SelectedField, type SelectedFields, selectionsByPlace } from './selected';
import { countStatements } from './statements';

/** Maximum number of cached analyses of one operation. */
const MAX_ANALYSES = 16;

/** One operation of a validated document, with everything that can be computed before it runs. */
export class Operation implements OperationSource {
  readonly name: string | undefined;
  /** The kind and the root field: `query pets`, `mutation (several)`. The number of different labels is bounded. */
  readonly label: string;
  /** The variables that `@skip` and `@include` depend on. */
  private readonly conditions: readonly string[];
  /** The variables at positions that may reject values of the correct type. */
  private readonly positioned: readonly PositionedVariable[];
  /** The variables that must not be null, although their type allows null; `undefined` until a variable is first null. */
  private withoutNull: ReadonlySet<string> | undefined;
  /** The analyses, by the values of these variables. */
  private readonly analyses = new Map<string, Analysis>();
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
    this.positioned = positionedVariables(this);
  }

  get kind(): OperationDefinitionNode['operation'] {
    return this.node.operation;
  }

  /** The variables that the operation declares. Others may be large, and are not kept while the operation waits or runs. */
  declaredOf(sent: SentVariables): SentVariables {
    const names = (this.node.variableDefinitions ?? []).map(({ variable }) => variable.name.value);
    if (Object.keys(sent).every((name) => names.includes(name))) return sent;
    return Object.fromEntries(names.flatMap((name) => (Object.hasOwn(sent, name) ? [[name, sent[name]]] : [])));
  }

  /** @returns `undefined` if the variables are invalid. */
  coerce(sent: SentVariables): CoercedVariables | undefined {
    if (isDeeper(sent)) return undefined;
    const definitions = this.node.variableDefinitions ?? [];
    if (!definitions.length) return NO_VARIABLES;
    const { coerced } = getVariableValues(this.schema, definitions, sent, { maxErrors: 1 });
    if (!coerced || this.positioned.some((variable) => isMisplaced(variable, coerced))) return undefined;
    for (const { variable } of definitions) {
      const name = variable.name.value;
      if (coerced[name] === null && this.rejectsNull(name)) return undefined;
    }
    return coerced as CoercedVariables;
  }

  private rejectsNull(variable: string): boolean {
    this.withoutNull ??= variablesWithoutNull(this);
    return this.withoutNull.has(variable);
  }

  /**
   * The analysis for these variables. It is cached.
   * @param coerced `undefined` if the variables are invalid.
   * @returns `undefined` if the analysis depends on invalid variables.
   */
  analysisFor(coerced: CoercedVariables | undefined): Analysis | undefined {
    if (!coerced && this.conditions.length) return undefined;
    let key = '';
    for (const name of this.conditions) key += coerced?.[name] ? 1 : 0;
    let analysis = this.analyses.get(key);
    if (!analysis) {
      analysis = new Analysis(this, coerced ?? {}, this.tables);
      if (this.analyses.size === MAX_ANALYSES) this.analyses.clear();
      this.analyses.set(key, analysis);
    }
    return analysis;
  }
}

/** A variable, and the arguments and input fields that contain it. */
interface PositionedVariable {
  readonly name: string;
  readonly type: GraphQLInputType;
  readonly holders: ReadonlySet<Element | undefined>;
}

function positionedVariables({ schema, node, fragments }: OperationSource): PositionedVariable[] {
  const variables = (node.variableDefinitions ?? []).flatMap(({ variable, type: typeNode }) => {
    const type = typeFromAST(schema, typeNode as Parameters<typeof typeFromAST>[1]);
    return isInputType(type) && dependsOnPosition(getNamedType(type)) ? [{ name: variable.name.value, type }] : [];
  });
  if (!variables.length) return [];
  const places = placesOf(schema, node, fragments);
  return variables.map(({ name, type }) => ({
    name,
    type,
    holders: new Set(places(name).map(({ holder }) => holder)),
  }));
}

function isMisplaced({ name, type, holders }: PositionedVariable, coerced: SentVariables): boolean {
  // A name such as `toString` is also the name of an inherited property.
  const value = Object.hasOwn(coerced, name) ? coerced[name] : undefined;
  for (const holder of holders) if (positionErrors(type, value, undefined, name, holder, 1).length) return true;
  return false;
}

/** The static analysis of an operation for given values of the variables in `@skip` and `@include`. */
export class Analysis {
  readonly root: SelectedFields;
  /** The number of selected fields with `@rateLimit`. The operation counts as this number of requests. */
  readonly countedFields: number;
  /** The scopes that `@requiresScope` requires for the selected fields. */
  readonly scopes: ReadonlySet<Scope>;
  /** The stability of the selected fields that are not stable, by schema coordinate. */
  readonly unstable: ReadonlyMap<string, StabilityLevel>;
  /** The estimated cost. */
  readonly estimate: Estimate;
  /** The number of statements that the operation needs at most. */
  readonly statements: number;
  /** The number of these statements that read related rows. */
  readonly related: number;
  /** Whether the answer depends only on the schema: the operation selects only introspection, and has no variables. */
  readonly isIntrospection: boolean;
  private readonly rewritten = new Map<JsonFormat, Rewritten | undefined>();
  private places: ReadonlyMap<string, FieldSelection> | undefined;

  /** @param conditions the values of the variables in `@skip` and `@include`. */
  constructor(
    private readonly source: OperationSource,
    conditions: Readonly<Record<string, unknown>>,
    private readonly tables: Tables = new Map(),
  ) {
    const { schema, fragments, node } = source;
    const scopes = new Set<Scope>();
    const unstable = new Map<string, StabilityLevel>();
    let countedFields = 0;
    const selection = (type: GraphQLObjectType, nodes: Nodes): SelectedFields => ({
      fields: [...nodes].flatMap(([key, fieldNodes]): SelectedField[] => {
        const field = fieldOf(schema, type, fieldNodes[0]?.name.value ?? '');
        if (!field) return [];
        if (isCounted(field)) countedFields++;
        const scope = requiredScope(field);
        if (scope) scopes.add(scope);
        const coordinate = `${type.name}.${field.name}`;
        const stability = stabilityOf(field);
        if (stability) unstable.set(coordinate, stability);
        return [{ key, field, coordinate, nodes: fieldNodes, selection: below(field, fieldNodes) }];
      }),
    });
    const below = (field: Field, nodes: readonly FieldNode[]): SelectedFields | undefined => {
      const type = getNamedType(field.type);
      if (isLeafType(type)) return undefined;
      const selectionOf = (each: GraphQLObjectType) =>
        selection(each, collectSubFields(schema, fragments, conditions, each, [...nodes]).fields);
      return isObjectType(type) ? selectionOf(type) : anyOf(schema.getPossibleTypes(type).map(selectionOf));
    };
    const type = schema.getRootType(node.operation) as GraphQLObjectType;
    this.root = selection(type, collectFields(schema, fragments, conditions, type, node.selectionSet).fields);
    this.countedFields = countedFields;
    this.scopes = scopes;
    this.unstable = unstable;
    const rewritten = this.withLeaves(GRAPHQL_API.json);
    // An operation with pages inside of leaves may run without leaves (executor.ts).
    const isLeaf = ({ key }: SelectedField) => rewritten?.pages.length === 0 && rewritten.leaves.has(key);
    const { total, related } = countStatements(this.root, node.operation === 'subscription', isLeaf);
    this.statements = total;
    this.related = related;
    this.estimate = new FieldCosts(schema).total(this.root, related);
    const { fields } = this.root;
    const isMeta = ({ field }: SelectedField) => field === SchemaMetaFieldDef || field === TypeMetaFieldDef;
    this.isIntrospection = !node.variableDefinitions?.length && fields.length > 0 && fields.every(isMeta);
  }

  /** The length of the document. */
  get characters(): number {
    return this.source.node.loc?.source.body.length ?? 0;
  }

  get isQuery(): boolean {
    return this.source.node.operation === 'query';
  }

  /** The selections of all rows, by the place of their field (declared-fields.ts). */
  get selections(): ReadonlyMap<string, FieldSelection> {
    this.places ??= selectionsByPlace(this.root);
    return this.places;
  }

  /** The lowest stability of the selected fields; `undefined` if all are stable. */
  get stability(): StabilityLevel | undefined {
    const levels = [...this.unstable.values()];
    return levels.includes('experimental') ? 'experimental' : levels[0];
  }

  /**
   * Returns the document with its plain root fields replaced by leaves (leaves.ts); `undefined` if it has no plain root
   * fields.
   */
  withLeaves(format: JsonFormat): Rewritten | undefined {
    if (!this.rewritten.has(format)) this.rewritten.set(format, rewrite(this.source, this.root, this.tables, format));
    return this.rewritten.get(format);
  }
}

type Field = GraphQLField<unknown, unknown>;
type Nodes = ReadonlyMap<string, readonly FieldNode[]>;

/** The definition of a field, including the fields of introspection (GraphQL, section 4). */
function fieldOf(schema: GraphQLSchema, parent: GraphQLObjectType, name: string): Field | undefined {
  if (name === TypeNameMetaFieldDef.name) return TypeNameMetaFieldDef;
  const metaFields = parent === schema.getQueryType() ? [SchemaMetaFieldDef, TypeMetaFieldDef] : [];
  return metaFields.find((meta) => meta.name === name) ?? parent.getFields()[name];
}

/** Merges the selections of several possible types. A field node that applies to several types is listed once. */
function anyOf(selections: readonly SelectedFields[]): SelectedFields {
  const fields = new Map(selections.flatMap((each) => each.fields.map((field) => [field.nodes[0], field])));
  return { fields: [...fields.values()] };
}

/** A cache of operations, which are kept as long as their document is referenced. */
export class OperationCache {
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

/** Maximum number of cached analyses of an operation of this document. */
export function mostAnalyses(document: DocumentNode): number {
  return Math.min(MAX_ANALYSES, 2 ** conditionsOf(document).length);
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
