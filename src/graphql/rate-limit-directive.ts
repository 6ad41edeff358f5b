import { MapperKind, mapSchema } from '@graphql-tools/utils';
import type { GraphQLSchema } from 'graphql';
import { rateLimitDirective } from 'graphql-rate-limit-directive';
import type { RateLimiterAbstract } from 'rate-limiter-flexible';
import type { LimitStatus } from '../rate-limit/limit-status';
import type { Charge } from './charge';
import type { Context } from './context';

/**
 * The limiter behind every `@rateLimit`. All counted fields of an operation have the same charge, which the first of them
 * settles: none runs before the whole operation is charged. The executor settles the charge of an operation without counted
 * fields. A request that fails before its operation is charged is charged by its transport.
 */
class OperationLimiter {
  consume(charge: Charge): LimitStatus | Promise<LimitStatus> {
    return charge.settle();
  }
}

const { rateLimitDirectiveTransformer } = rateLimitDirective<Context, object>({
  limiterClass: OperationLimiter as unknown as typeof RateLimiterAbstract,
  // Its type says string, but the package only hands the key over to `consume`.
  keyGenerator: (_directive, _source, _args, { charge }) => charge as unknown as string,
});

/**
 * Puts the limiter in front of every field with `@rateLimit`. The package wraps `resolve`, which runs for each event of a
 * subscription: there it is given `subscribe` instead.
 */
export function enforceRateLimits(schema: GraphQLSchema): GraphQLSchema {
  return swapSubscribe(rateLimitDirectiveTransformer(swapSubscribe(schema)));
}

/** Exchanges `resolve` and `subscribe` of the fields of subscriptions. */
function swapSubscribe(schema: GraphQLSchema): GraphQLSchema {
  return mapSchema(schema, {
    [MapperKind.SUBSCRIPTION_ROOT_FIELD]: ({ resolve, subscribe, ...field }) => ({
      ...field,
      resolve: subscribe,
      subscribe: resolve,
    }),
  });
}
