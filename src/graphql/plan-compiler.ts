import {
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLLeafType,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getNamedType,
  isLeafType,
  type OperationDefinitionNode,
} from 'graphql';
import { collectSubfields } from 'graphql/execution/collectFields';
import { getArgumentValues } from 'graphql/execution/values';
import type { Spelling } from '../database/row-json';
import type { Spelled } from '../database/tables';
import { argumentsOf, hasConstantArguments } from './arguments';
import { type Complete, type FieldPlan, GaveUp, type Run, type Selection, type Values } from './plan-run';
import { resolverOf } from './rate-limit-directive';
import { requestedFields } from './requested-fields';
import { rowShapeOf } from './row-shape';
import { RowText } from './row-text';

type Field = GraphQLField<unknown, unknown>;

/** An operation of a validated document. */
export interface Source {
  readonly node: OperationDefinitionNode;
  readonly fragments: Record<string, FragmentDefinitionNode>;
  readonly hasDirectives: boolean;
  /** The interface that its responses are for. */
  readonly spelling: Spelling;
}

/** Compiles the fields of an operation to closures. @throws GaveUp for what plans do not support. */
export class Compiler {
  /** The number of fields whose arguments depend on variables: these are coerced once per run. */
  slots = 0;

  constructor(
    private readonly schema: GraphQLSchema,
    private readonly operation: Source,
  ) {}

  selection(type: GraphQLObjectType, fields: ReadonlyMap<string, readonly FieldNode[]>): Selection {
    return [...fields].map(([key, nodes]) => this.field(type, key, nodes));
  }

  private field(type: GraphQLObjectType, key: string, nodes: readonly FieldNode[]): FieldPlan {
    const [node] = nodes;
    const name = node?.name.value ?? '';
    if (key === '__proto__') throw new GaveUp();
    if (name === '__typename') return { key, resolve: () => type.name, complete: (value) => value };
    const field = type.getFields()[name];
    if (!node || !field) throw new GaveUp();
    return {
      key,
      resolve: this.resolver(type, field, node, nodes),
      complete: this.completer(field.type, nodes),
    };
  }

  private resolver(type: GraphQLObjectType, field: Field, node: FieldNode, nodes: readonly FieldNode[]) {
    const { name } = field;
    const resolve = resolverOf(field);
    const args = this.args(field, node);
    const info = this.info(type, field, nodes);
    if (resolve) return (source: unknown, run: Run) => resolve(source, args(run), run.context, info);
    return (source: unknown, run: Run) => {
      const value = (source as Values)[name];
      return typeof value === 'function' ? value.call(source, args(run), run.context, info) : value;
    };
  }

  private args(field: Field, node: FieldNode): (run: Run) => Values {
    if (!field.args.length) return () => ({});
    if (hasConstantArguments(node)) {
      const constant = getArgumentValues(field, node, {});
      return () => constant;
    }
    const values = argumentsOf(field, node);
    const slot = this.slots++;
    return (run) => {
      run.args[slot] ??= values(run.variables);
      return run.args[slot];
    };
  }

  /**
   * The `info` for resolvers, without the path and the variables, which differ between rows and runs and which
   * no resolver here reads. It adds the shape of the rows, so that the database can return them as JSON.
   */
  private info(
    parentType: GraphQLObjectType,
    field: Field,
    fieldNodes: readonly FieldNode[],
  ): GraphQLResolveInfo {
    const { node, fragments, spelling } = this.operation;
    const fields = requestedFields({ fieldNodes, fragments });
    const selections = { schema: this.schema, fragments, spelling };
    const shape = rowShapeOf(selections, getNamedType(field.type), fieldNodes);
    return {
      fields: Object.assign(new Map(fields), { shape }),
      fieldName: field.name,
      fieldNodes,
      returnType: field.type,
      parentType,
      schema: this.schema,
      fragments,
      operation: node,
      rootValue: undefined,
    } as unknown as GraphQLResolveInfo;
  }

  private completer(type: GraphQLOutputType, nodes: readonly FieldNode[]): Complete {
    if (type instanceof GraphQLNonNull) {
      const inner = this.completer(type.ofType, nodes);
      return (value, run) => {
        const completed = inner(value, run);
        if (completed === null) throw new GaveUp();
        return completed;
      };
    }
    if (type instanceof GraphQLList) return list(this.completer(type.ofType, nodes));
    if (isLeafType(type)) return leaf(type);
    if (type instanceof GraphQLObjectType && !type.isTypeOf) return this.object(type, nodes);
    throw new GaveUp();
  }

  private object(type: GraphQLObjectType, nodes: readonly FieldNode[]): Complete {
    const { fragments } = this.operation;
    const selection = this.selection(type, collectSubfields(this.schema, fragments, {}, type, nodes));
    return (value, run) => {
      if (value === null || value === undefined) return null;
      if (value instanceof Error) throw new GaveUp();
      const { json } = value as Spelled;
      if (json !== undefined) return new RowText(json);
      const target: Values = {};
      run.fill(selection, value, target);
      return target;
    };
  }
}

function list(complete: Complete): Complete {
  return (value, run) => {
    if (value === null || value === undefined) return null;
    const { json } = value as Spelled;
    if (json !== undefined) return new RowText(json);
    if (!Array.isArray(value)) throw new GaveUp();
    return value.map((item) => {
      if (item instanceof Promise) throw new GaveUp();
      return complete(item, run);
    });
  };
}

function leaf(type: GraphQLLeafType): Complete {
  return (value) => {
    if (value === null || value === undefined) return null;
    const serialized = value instanceof Error ? undefined : type.serialize(value);
    if (serialized === null || serialized === undefined) throw new GaveUp();
    return serialized;
  };
}
