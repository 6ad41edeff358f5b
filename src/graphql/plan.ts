import type { GraphQLSchema } from 'graphql';
import { collectFields } from 'graphql/execution/collectFields';
import type { Context } from './context';
import { Compiler, type Source } from './plan-compiler';
import { type FieldPlan, Run, type Selection, type Values } from './plan-run';

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
