import { collectFields, collectSubFields } from '@graphql-tools/utils';
import {
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLFieldResolver,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getArgumentValues,
  getNamedType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  type OperationDefinitionNode,
  SchemaMetaFieldDef,
  TypeMetaFieldDef,
  TypeNameMetaFieldDef,
} from 'graphql';
import type { Scope } from '../database/generated/enums';
import { completeAbstract, completeLeaf, completeList, completeObject } from './complete';
import { isCounted, requiredScope } from './directives';
import type { Estimate } from './estimate';
import { FieldCosts } from './field-costs';
import { holdsVariable } from './given-values';
import type { Completion, FieldPlan, Place, Run, SelectionPlan, Values } from './run';

/** One operation of a validated document. */
export interface Source {
  readonly schema: GraphQLSchema;
  readonly node: OperationDefinitionNode;
  readonly fragments: Record<string, FragmentDefinitionNode>;
}

/** An operation compiled for certain conditions of its `@skip` and `@include`. */
export interface Plan {
  readonly root: SelectionPlan;
  /** The number of selected fields with `@rateLimit`. */
  readonly cost: number;
  /** What the `@requiresScope` of the selected fields demand, wherever they stand. */
  readonly scopes: ReadonlySet<Scope>;
  /** What it is estimated to cost: see `cost/`. */
  readonly size: Estimate;
}

type Field = GraphQLField<unknown, unknown>;
type InfoOf = (run: Run, owner?: Place) => GraphQLResolveInfo;
type Fields = ReadonlyMap<string, readonly FieldNode[]>;

/**
 * Looks up once what graphql-js looks up for every field of every row: definition, arguments, selection, type.
 * @param conditions the values of the variables of `@skip` and `@include`.
 */
export function compile(source: Source, conditions: Values): Plan {
  return new Compiler(source, conditions).plan();
}

/** The definition of a field, also of introspection (GraphQL, section 4). */
export function fieldOf(schema: GraphQLSchema, parent: GraphQLObjectType, name: string): Field | undefined {
  if (name === TypeNameMetaFieldDef.name) return TypeNameMetaFieldDef;
  const metaFields = parent === schema.getQueryType() ? [SchemaMetaFieldDef, TypeMetaFieldDef] : [];
  return metaFields.find((meta) => meta.name === name) ?? parent.getFields()[name];
}

class Compiler {
  private readonly scopes = new Set<Scope>();
  private cost = 0;
  /** The number of fields whose arguments depend on variables; they are coerced once a run. */
  private slots = 0;

  constructor(
    private readonly source: Source,
    private readonly conditions: Values,
  ) {}

  plan(): Plan {
    const { schema, node, fragments } = this.source;
    const type = schema.getRootType(node.operation) as GraphQLObjectType;
    const { fields } = collectFields(schema, fragments, this.conditions, type, node.selectionSet);
    const root = this.selection(type, fields);
    const size = new FieldCosts(schema).total(root);
    return { root, cost: this.cost, scopes: this.scopes, size };
  }

  private selection(type: GraphQLObjectType, collected: Fields): SelectionPlan {
    const fields = [...collected].flatMap(([key, nodes]) => this.field(type, key, nodes));
    // Setting `__proto__` of an ordinary object would change its prototype.
    const blank = collected.has('__proto__') ? () => Object.create(null) as Values : () => ({});
    return { fields, bytes: fields.reduce((sum, { key }) => sum + key.length + 4, 2), blank };
  }

  private field(parent: GraphQLObjectType, key: string, nodes: readonly FieldNode[]): FieldPlan[] {
    const [node] = nodes;
    const field = node && fieldOf(this.source.schema, parent, node.name.value);
    if (!field) return [];
    if (isCounted(field)) this.cost++;
    const scope = requiredScope(field);
    if (scope) this.scopes.add(scope);
    const infoOf = this.infoOf(parent, field, key, nodes);
    const below = this.below(field, nodes, infoOf);
    const completion = completionOf(field.type, `${parent.name}.${field.name}`, nodes, below?.complete);
    return [
      { key, field, ...completion, selection: below?.selection, resolve: this.resolver(parent, field, node, infoOf) },
    ];
  }

  /** What is selected of the objects that a field returns, and how each is completed; `undefined` for leaves. */
  private below(field: Field, nodes: readonly FieldNode[], infoOf: InfoOf) {
    const type = getNamedType(field.type);
    if (isLeafType(type)) return undefined;
    const { schema, fragments } = this.source;
    const selectionOf = (each: GraphQLObjectType) =>
      this.selection(each, collectSubFields(schema, fragments, this.conditions, each, [...nodes]).fields);
    if (isObjectType(type)) {
      const selection = selectionOf(type);
      return { selection, complete: completeObject(selection) };
    }
    const plans = new Map(schema.getPossibleTypes(type).map((each) => [each.name, selectionOf(each)]));
    return { selection: anyOf([...plans.values()]), complete: completeAbstract(type, plans, infoOf) };
  }

  private infoOf(parentType: GraphQLObjectType, field: Field, key: string, fieldNodes: readonly FieldNode[]): InfoOf {
    const { schema, node: operation, fragments } = this.source;
    const { name: fieldName, type: returnType } = field;
    return (run, owner) => ({
      fieldName,
      fieldNodes,
      returnType,
      parentType,
      path: { prev: owner?.path, key, typename: parentType.name },
      schema,
      fragments,
      rootValue: run.rootValue,
      operation,
      variableValues: run.variables,
    });
  }

  private resolver(parentType: GraphQLObjectType, field: Field, node: FieldNode, infoOf: InfoOf): FieldPlan['resolve'] {
    if (field === TypeNameMetaFieldDef) return () => parentType.name;
    const { name: fieldName, resolve } = field;
    const args = this.args(field, node);
    const call = (
      resolver: GraphQLFieldResolver<unknown, unknown>,
      source: unknown,
      run: Run,
      owner: Place | undefined,
    ) => resolver(source, args(run), run.context, infoOf(run, owner));
    if (resolve) return (source, run, owner) => call(resolve, source, run, owner);
    // As graphql-js' default resolver: a property, or a method.
    return (source, run, owner) => {
      const value = (source as Values | undefined)?.[fieldName];
      if (typeof value !== 'function') return value;
      return call((_source, ...given) => value.apply(source, given), source, run, owner);
    };
  }

  private args(field: Field, node: FieldNode): (run: Run) => Values {
    if (!node.arguments?.some(({ value }) => holdsVariable(value))) {
      const constant = getArgumentValues(field, node);
      return () => constant;
    }
    const slot = this.slots++;
    return (run) => {
      run.args[slot] ??= getArgumentValues(field, node, run.variables);
      return run.args[slot];
    };
  }
}

/** What may be selected of a value that is of one of several types: each field once, for the estimate of its cost. */
function anyOf(plans: readonly SelectionPlan[]): SelectionPlan {
  const fields = new Map(plans.flatMap((plan) => plan.fields.map((field) => [field.nodes[0], field])));
  return { fields: [...fields.values()], bytes: 0, blank: () => ({}) };
}

/** @param coordinate of the field, for errors. @param completeNamed `undefined` for leaves. */
function completionOf(
  type: GraphQLOutputType,
  coordinate: string,
  nodes: readonly FieldNode[],
  completeNamed: Completion['complete'] | undefined,
): Completion {
  const isNonNull = isNonNullType(type);
  const nullable = isNonNull ? type.ofType : type;
  const complete = isListType(nullable)
    ? completeList(completionOf(nullable.ofType, coordinate, nodes, completeNamed))
    : isLeafType(nullable)
      ? completeLeaf(nullable)
      : (completeNamed as Completion['complete']);
  return { coordinate, nodes, isNonNull, complete };
}
