import { MapperKind, mapSchema } from '@graphql-tools/utils';
import type { GraphQLSchema } from 'graphql';
import { rateLimitDirective } from 'graphql-rate-limit-directive';
import type { RateLimiterAbstract } from 'rate-limiter-flexible';
import type { LimitStatus } from '../../rate-limit/limit-status';
import type { Context } from '../executor/context';
import type { Charge } from './charge';

/**
 * The limiter behind every `@rateLimit`, the only place where operations are charged. Its key is the charge of the
 * field's operation, which knows the caller, the plan's two windows and the total cost, so no counted field of an
 * operation runs before all of it is charged.
 */
class OperationLimiter {
  consume(charge: unknown): LimitStatus | Promise<LimitStatus> {
    return (charge as Charge).settle();
  }
}

const { rateLimitDirectiveTransformer } = rateLimitDirective<Context, object>({
  limiterClass: OperationLimiter as unknown as typeof RateLimiterAbstract,
  keyGenerator: (_directive, _source, _args, context) => context.charge as unknown as string,
});

/** Puts the limiter in front of every field with `@rateLimit`. */
export function enforceRateLimits(schema: GraphQLSchema): GraphQLSchema {
  return exchangeSubscribers(rateLimitDirectiveTransformer(exchangeSubscribers(schema)));
}

/** The package limits `resolve`, which runs for each event; a subscription is charged by `subscribe`, when it starts. */
function exchangeSubscribers(schema: GraphQLSchema): GraphQLSchema {
  return mapSchema(schema, {
    [MapperKind.SUBSCRIPTION_ROOT_FIELD]: ({ resolve, subscribe, ...field }) => ({
      ...field,
      resolve: subscribe,
      subscribe: resolve,
    }),
  });
}
