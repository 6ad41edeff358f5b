import { defaultFieldResolver, type GraphQLSchema } from 'graphql';
import type { Context } from '../graphql/executor/context';

/**
 * Lets the root fields of a mutation succeed or fail independently when they share a transaction: each runs in a
 * savepoint, so a failure rolls back its own changes only. Modifies and returns `schema`.
 */
export function isolateMutations(schema: GraphQLSchema): GraphQLSchema {
  for (const field of Object.values(schema.getMutationType()?.getFields() ?? {})) {
    const { resolve = defaultFieldResolver } = field;
    field.resolve = (source, args, context: Context, info) => {
      const { shared, session } = context;
      if (!shared) return resolve(source, args, context, info);
      return session.transaction(async () => {
        const result: unknown = await resolve(source, args, context, info);
        shared.succeeded++;
        return result;
      });
    };
  }
  return schema;
}
