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
import { collectFields, collectSubfields } from 'graphql/execution/collectFields';
import { getArgumentValues } from 'graphql/execution/values';
import type { Spelling } from '../database/row-json';
import type { Spelled } from '../database/tables';
import { argumentsOf, hasConstantArguments } from './arguments';
import type { Context } from './context';
import { resolverOf } from './rate-limit-directive';
import { requestedFields } from './requested-fields';
import { rowShapeOf } from './row-shape';
import { RowText } from './row-text';

type Values = Record<string, unknown>;
type Field = GraphQLField<unknown, unknown>;

/** An operation of a validated document. */
export interface Source {
  readonly node: OperationDefinitionNode;
  readonly fragments: Record<string, FragmentDefinitionNode>;
  readonly hasDirectives: boolean;
  /** Who its answers are for. */
  readonly spelling: Spelling;
}

/** Thrown for everything that is not the plain success of an operation. Whoever runs a plan then runs graphql-js instead. */
class GaveUp extends Error {}

/**
 * An operation compiled to closures: what graphql-js looks up again for every field of every row (the definition, the
 * arguments, the types, the path) is looked up once. It does the plain success only. At the first error or surprise it
 * gives up, and graphql-js, which has the last word on errors, runs the operation from its start: queries change nothing,
 * and what a mutation has come to is kept in the context.
 */
export class Plan {
  private constructor(
    private readonly root: Selection,
    private readonly slots: number,
  ) {}

  /**
   * The plan of an operation; `undefined` if it has directives, introspection or abstract types, is a mutation of several
   * fields, which run one after the other, or a subscription.
   */
  static compile(schema: GraphQLSchema, operation: Source): Plan | undefined {
    const { node, fragments, hasDirectives } = operation;
    const type = schema.getRootType(node.operation);
    if (node.operation === 'subscription' || hasDirectives || !type) return undefined;
    const compiler = new Compiler(schema, operation);
    try {
      const fields = collectFields(schema, fragments, {}, type, node.selectionSet);
      const root = compiler.selection(type, fields);
      if (node.operation === 'query') return new Plan(root, compiler.slots);
      return root.length === 1 ? new Plan(root.map(once), compiler.slots) : undefined;
    } catch {
      return undefined;
    }
  }

  /**
   * Runs an operation that has been charged.
   * @param variables coerced as graphql-js does. @throws whatever goes wrong.
   */
  run(context: Context, variables: Values): Promise<Values> {
    return new Promise((resolve, reject) => {
      const run = new Run(context, variables, new Array(this.slots), reject);
      const data: Values = {};
      run.finish = () => resolve(data);
      run.fill(this.root, undefined, data);
      run.settle();
    });
  }
}

/** The root field of a mutation: whatever it comes to, it has run. */
function once(field: FieldPlan): FieldPlan {
  return {
    ...field,
    resolve: (source, run) => {
      // What it throws at once is kept like what it rejects with.
      run.context.mutated = (async () => field.resolve(source, run))();
      return run.context.mutated;
    },
  };
}

/** One run of a plan. Objects are handed on before all their fields are there; it ends when the last one is. */
class Run {
  finish: () => void = () => undefined;
  /** Promises not settled yet, and the root. */
  private pending = 1;

  constructor(
    readonly context: Context,
    readonly variables: Values,
    readonly args: (Values | undefined)[],
    readonly fail: (error: unknown) => void,
  ) {}

  fill(selection: Selection, source: unknown, target: Values): void {
    for (const field of selection) {
      const value = field.resolve(source, this);
      if (value instanceof Promise) this.await(field, value, target);
      else target[field.key] = field.complete(value, this);
    }
  }

  settle(): void {
    if (--this.pending === 0) this.finish();
  }

  private await(field: FieldPlan, value: Promise<unknown>, target: Values): void {
    this.pending++;
    target[field.key] = undefined; // keeps its place among the keys
    value
      .then((settled) => {
        target[field.key] = field.complete(settled, this);
        this.settle();
      })
      .catch(this.fail);
  }
}

interface FieldPlan {
  readonly key: string;
  resolve(source: unknown, run: Run): unknown;
  readonly complete: Complete;
}

type Selection = readonly FieldPlan[];
type Complete = (value: unknown, run: Run) => unknown;

class Compiler {
  /** How many fields have arguments that depend on variables: they are coerced once in a run. */
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
   * Without the path and the variables, which differ between rows and runs: no resolver here asks for them. With how the
   * rows are to be spelled: one that is read so need not be taken apart.
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
