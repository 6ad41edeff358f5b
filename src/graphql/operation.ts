import {
  BREAK,
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getDirectiveValues,
  getOperationAST,
  isNonNullType,
  type OperationDefinitionNode,
  type TypeNode,
  typeFromAST,
  valueFromAST,
  visit,
} from 'graphql';
import { collectFields } from 'graphql/execution/collectFields';
import type { Scope } from '../database/generated/enums';
import type { Spelling } from '../database/row-json';
import { estimateCost } from './cost';
import type { Estimate } from './estimate';
import { coercerOf } from './input-values';
import { Lifecycle } from './lifecycle';
import { Plan } from './plan';
import type { Variables } from './variables';

/** What running an operation requires: its number of counted root fields, and the scopes. */
export interface Demand {
  readonly cost: number;
  readonly scopes: readonly Scope[];
}

interface Variable {
  readonly name: string;
  readonly coerce: (value: unknown) => unknown;
  readonly isRequired: boolean;
  /** `undefined` if there is none, or it does not fit the type. */
  readonly defaultValue: unknown;
}

/** One operation of a validated document, with everything that can be computed before it runs. */
export class Operation {
  readonly name: string | undefined;
  /** Its kind and root field, a bounded set of values: `query pets`, `mutation (several)`. */
  readonly label: string;
  readonly hasDirectives: boolean;
  readonly fragments: Record<string, FragmentDefinitionNode> = {};
  /** Set if the document has no directives: every run of the operation then has the same demand. */
  private readonly constant: Demand | undefined;
  /** How many values the response can contain. */
  readonly size: Estimate;
  /** The deprecated and unstable elements that it uses; `undefined` if there are none, which is the usual case. */
  readonly lifecycle: Lifecycle | undefined;
  private compiled: Plan | null | undefined;
  private readonly variables: readonly Variable[];

  constructor(
    private readonly schema: GraphQLSchema,
    readonly document: DocumentNode,
    readonly node: OperationDefinitionNode,
    readonly spelling: Spelling,
  ) {
    this.name = node.name?.value;
    this.label = `${node.operation} ${rootFieldOf(node)}`;
    for (const definition of document.definitions) {
      if (definition.kind === 'FragmentDefinition') this.fragments[definition.name.value] = definition;
    }
    this.hasDirectives = hasDirectives(document);
    this.variables = (node.variableDefinitions ?? []).map(({ variable, type: typeNode, defaultValue }) => {
      const type = typeFromAST(schema, typeNode as TypeNode) as GraphQLInputType;
      return {
        name: variable.name.value,
        coerce: coercerOf(type),
        isRequired: isNonNullType(type),
        defaultValue: defaultValue && valueFromAST(defaultValue, type),
      };
    });
    this.constant = this.hasDirectives ? undefined : this.demandOf({});
    this.size = estimateCost(schema, document, node);
    this.lifecycle = Lifecycle.of(schema, document, node);
  }

  /** The compiled plan, which runs it without graphql-js's executor; compiled on first access. */
  get plan(): Plan | undefined {
    if (this.compiled === undefined) this.compiled = Plan.compile(this.schema, this) ?? null;
    return this.compiled ?? undefined;
  }

  /**
   * The demand of a run with these variables, with aliases, fragments, `@skip` and `@include` resolved.
   * `undefined` if the variables do not fit; if the demand is constant and costs something they are not checked
   * here, but when it runs.
   */
  demand(variables: Variables): Demand | undefined {
    if (this.constant?.cost) return this.constant;
    const coerced = this.coerce(variables);
    return coerced && (this.constant ?? this.demandOf(coerced));
  }

  /**
   * The coerced variables (GraphQL, section 6.1.2); `undefined` if they do not fit. What is wrong with them is
   * worked out only when it is reported.
   */
  coerce(variables: Variables): Record<string, unknown> | undefined {
    const coerced: Record<string, unknown> = {};
    try {
      for (const { name, coerce, isRequired, defaultValue } of this.variables) {
        if (Object.hasOwn(variables, name)) coerced[name] = coerce(variables[name]);
        else if (defaultValue !== undefined) coerced[name] = defaultValue;
        else if (isRequired) return undefined;
      }
    } catch {
      return undefined;
    }
    return coerced;
  }

  private demandOf(coerced: Record<string, unknown>): Demand {
    const type = this.schema.getRootType(this.node.operation) as GraphQLObjectType;
    const responseKeys = collectFields(this.schema, this.fragments, coerced, type, this.node.selectionSet);
    const scopes = new Set<Scope>();
    let cost = 0;
    for (const [first] of responseKeys.values()) {
      const field = first && type.getFields()[first.name.value];
      if (!field) continue; // __typename and introspection
      if (isCounted(field)) cost++;
      const scope = this.scopeOf(field);
      if (scope) scopes.add(scope);
    }
    return { cost, scopes: [...scopes] };
  }

  private scopeOf({ astNode }: GraphQLField<unknown, unknown>): Scope | undefined {
    const directive = this.schema.getDirective('requiresScope');
    if (!directive || !astNode) return undefined;
    return getDirectiveValues(directive, astNode)?.scope as Scope | undefined;
  }
}

/** A cache of operations, which keeps them as long as their document is referenced. */
export class Operations {
  private readonly known = new WeakMap<DocumentNode, Map<string | undefined, Operation>>();

  private readonly spellings = new WeakMap<DocumentNode, Spelling>();

  constructor(private readonly schema: GraphQLSchema) {}

  /** Sets whether responses to a document are spelled for GraphQL (the default) or REST. Call before its first run. */
  spell(document: DocumentNode, spelling: Spelling): void {
    this.spellings.set(document, spelling);
  }

  /** The operation with this name, or the only one; `undefined` if there is none or the choice is ambiguous. */
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
    const operation = new Operation(this.schema, document, node, this.spellings.get(document) ?? 'graphql');
    operations.set(name, operation);
    return operation;
  }
}

/** Whether a document, validated or not, plainly uses no quota: only introspection, `rateLimit`, `viewer`. */
export function isFreeOfQuota(schema: GraphQLSchema, { definitions }: DocumentNode): boolean {
  const fields = schema.getQueryType()?.getFields() ?? {};
  return definitions.every((node) => {
    if (node.kind !== 'OperationDefinition') return node.kind === 'FragmentDefinition';
    return (
      node.operation === 'query' &&
      node.selectionSet.selections.every((selection) => {
        if (selection.kind !== 'Field') return false;
        const { value: name } = selection.name;
        const field = fields[name];
        return name.startsWith('__') || (field !== undefined && !isCounted(field));
      })
    );
  });
}

function isCounted(field: GraphQLField<unknown, unknown>): boolean {
  return field.astNode?.directives?.some((directive) => directive.name.value === 'rateLimit') ?? false;
}

/** The schema field that a validated operation selects, under any alias; `(several)` if there is more than one. */
function rootFieldOf({ selectionSet }: OperationDefinitionNode): string {
  const fields = selectionSet.selections.map((each) => (each.kind === 'Field' ? each.name.value : undefined));
  const [first] = fields;
  return first !== undefined && fields.every((field) => field === first) ? first : '(several)';
}

function hasDirectives(document: DocumentNode): boolean {
  let found = false;
  visit(document, {
    Directive: () => {
      found = true;
      return BREAK;
    },
  });
  return found;
}
