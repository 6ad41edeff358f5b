import { defaultFieldResolver, type GraphQLSchema } from 'graphql';
import type { Context } from './context';

/**
 * Lets the root fields of a mutation succeed and fail each for itself where they share a transaction: behind a savepoint,
 * one that fails undoes what it did, and not what those before it did. What a plan has changed already is not changed again.
 * It changes `schema`, and answers it.
 */
export function isolateMutations(schema: GraphQLSchema): GraphQLSchema {
  for (const field of Object.values(schema.getMutationType()?.getFields() ?? {})) {
    const { resolve = defaultFieldResolver } = field;
    field.resolve = (source, args, context: Context, info) => {
      const { shared, session, mutated } = context;
      if (mutated) return mutated;
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
