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

/** What running an operation takes: how many counted root fields, and which scopes. */
export interface Demand {
  readonly cost: number;
  readonly scopes: readonly Scope[];
}

interface Variable {
  readonly name: string;
  readonly coerce: (value: unknown) => unknown;
  readonly isRequired: boolean;
  /** `undefined` without one, and for one that does not fit. */
  readonly defaultValue: unknown;
}

/** One operation of a validated document, with what can be known of it before it runs. */
export class Operation {
  readonly name: string | undefined;
  /** Its kind and root field, of which there are only so many: `query pets`, `mutation (several)`. */
  readonly label: string;
  readonly hasDirectives: boolean;
  readonly fragments: Record<string, FragmentDefinitionNode> = {};
  /** Where no directive stands in the document, all runs of the operation demand the same. */
  private readonly constant: Demand | undefined;
  /** How many values the answer can hold. */
  readonly size: Estimate;
  /** What it uses that will not stay as it is; `undefined` where there is no such thing, as mostly. */
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

  /** How to run it without graphql-js's general machinery; made when it is first asked for. */
  get plan(): Plan | undefined {
    if (this.compiled === undefined) this.compiled = Plan.compile(this.schema, this) ?? null;
    return this.compiled ?? undefined;
  }

  /**
   * What a run with these variables demands; what aliases, fragments, `@skip` and `@include` hide is seen. `undefined`
   * where the variables do not fit; of what costs something whatever they are, running it tells that.
   */
  demand(variables: Variables): Demand | undefined {
    if (this.constant?.cost) return this.constant;
    const coerced = this.coerce(variables);
    return coerced && (this.constant ?? this.demandOf(coerced));
  }

  /**
   * The variables as resolvers get them; `undefined` where they do not fit (GraphQL, section 6.1.2). What is wrong with them
   * is found out when it is told.
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

/** The operations of the documents that have been seen, for as long as somebody holds the document. */
export class Operations {
  private readonly known = new WeakMap<DocumentNode, Map<string | undefined, Operation>>();

  private readonly spellings = new WeakMap<DocumentNode, Spelling>();

  constructor(private readonly schema: GraphQLSchema) {}

  /** Tells whom the answers to a document are for, before it is run: clients of GraphQL unless told. */
  spell(document: DocumentNode, spelling: Spelling): void {
    this.spellings.set(document, spelling);
  }

  /** The operation of this name, or the only one; `undefined` if there is none or it is not clear which. */
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

/** Whether a document, validated or not, plainly asks only for what counts nothing: introspection, `rateLimit`, `viewer`. */
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

/** The one field of the schema that a validated operation asks for, under whatever alias. */
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
