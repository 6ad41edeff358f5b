import { rateLimitDirective } from 'graphql-rate-limit-directive';
import type { RateLimiterAbstract } from 'rate-limiter-flexible';
import type { Standing } from '../rate-limit/standing';
import type { Context } from './context';
import type { Charge } from './limits';

/**
 * The limiter behind every `@rateLimit`. Its key is the charge of the operation that the field belongs to, which knows
 * the caller, the plan's two windows and the whole cost: so no field of an operation runs before all of it is paid.
 */
class OperationLimiter {
  consume(charge: unknown): Promise<Standing> {
    return (charge as Charge).settle();
  }
}

/** Puts the limiter in front of every field that bears `@rateLimit`. */
export const { rateLimitDirectiveTransformer: enforceRateLimits } = rateLimitDirective<Context, object>({
  limiterClass: OperationLimiter as unknown as typeof RateLimiterAbstract,
  keyGenerator: (_directive, _source, _args, context) => context.charge as unknown as string,
});
