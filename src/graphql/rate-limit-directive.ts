import type { GraphQLField, GraphQLFieldResolver, GraphQLObjectType, GraphQLSchema } from 'graphql';
import { rateLimitDirective } from 'graphql-rate-limit-directive';
import type { RateLimiterAbstract } from 'rate-limiter-flexible';
import type { Standing } from '../rate-limit/standing';
import type { Context } from './context';
import type { Charge } from './limits';

/**
 * The limiter behind every `@rateLimit`. Its key is the charge of the field's operation, which knows the
 * caller, the plan's two windows and the total cost, so no field of an operation runs before all of it is
 * charged.
 */
class OperationLimiter {
  consume(charge: unknown): Promise<Standing> {
    return (charge as Charge).settle();
  }
}

const { rateLimitDirectiveTransformer } = rateLimitDirective<Context, object>({
  limiterClass: OperationLimiter as unknown as typeof RateLimiterAbstract,
  keyGenerator: (_directive, _source, _args, context) => context.charge as unknown as string,
});

/** The extension that holds a field's resolver without the limiter. */
const UNLIMITED = Symbol('unlimited');

/** Puts the limiter in front of every field with `@rateLimit`. */
export function enforceRateLimits(schema: GraphQLSchema): GraphQLSchema {
  const limited = rateLimitDirectiveTransformer(schema);
  for (const type of [limited.getQueryType(), limited.getMutationType()]) {
    const before = type && (schema.getType(type.name) as GraphQLObjectType).getFields();
    for (const field of Object.values(type?.getFields() ?? {}))
      field.extensions = { ...field.extensions, [UNLIMITED]: before?.[field.name]?.resolve };
  }
  return limited;
}

/** A field's resolver without the limiter, for operations that have already been charged. */
export function resolverOf({
  resolve,
  extensions,
}: GraphQLField<unknown, unknown>): GraphQLFieldResolver<unknown, unknown> | undefined {
  return (extensions as { [UNLIMITED]?: GraphQLFieldResolver<unknown, unknown> })[UNLIMITED] ?? resolve;
}
