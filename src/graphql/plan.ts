import type { GraphQLSchema } from 'graphql';
import { collectFields } from 'graphql/execution/collectFields';
import type { Context } from './context';
import { Compiler, type Source } from './plan-compiler';
import { type FieldPlan, Run, type Selection, type Values } from './plan-run';

/**
 * An operation compiled to closures: what graphql-js looks up for every field of every row (definition,
 * arguments, types, path) is looked up once. A plan handles only plain success. At the first error or surprise
 * it gives up, and graphql-js, the authority on errors, runs the operation from the start: queries change
 * nothing, and the result of a mutation is kept in the context.
 */
export class Plan {
  private constructor(
    private readonly root: Selection,
    private readonly slots: number,
  ) {}

  /**
   * Compiles an operation; `undefined` if it has directives, introspection or abstract types, is a mutation
   * with several root fields, which must run serially, or is a subscription.
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
   * @param variables coerced as graphql-js does. @throws any error.
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

/** The root field of a mutation, whose result or error is kept: it must not run twice. */
function once(field: FieldPlan): FieldPlan {
  return {
    ...field,
    resolve: (source, run) => {
      // Being async turns a synchronous throw into a rejection, which is kept too.
      run.context.mutated = (async () => field.resolve(source, run))();
      return run.context.mutated;
    },
  };
}
