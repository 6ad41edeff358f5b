import { Ctx, Query, Resolver } from 'type-graphql';
import { Errors } from '../../errors/errors-directive';
import type { Context } from '../../graphql/executor/context';
import type { LimitStatus } from '../../rate-limit/limit-status';
import type { Plan } from '../../rate-limit/plans';
import { Viewer } from '../types/api-key';
import { RateLimit } from '../types/rate-limit';

@Resolver()
export class ViewerResolver {
  @Query(() => RateLimit, { description: "The caller's plan and remaining quota. Uses no quota." })
  async rateLimit(@Ctx() { request, charge }: Context): Promise<RateLimit> {
    return rateLimitOf(await charge.settle(), request.caller.plan, charge.cost);
  }

  @Errors('BAD_USER_INPUT')
  @Query(() => Viewer, { description: 'The caller: its plan, scopes, API key and usage. Uses no quota.' })
  async viewer(@Ctx() context: Context): Promise<object> {
    const { plan, scopes, apiKey = null } = context.request.caller;
    return { plan, scopes: [...scopes], apiKey, rateLimit: await this.rateLimit(context) };
  }
}

/** @param cost what the operation that asks costs. */
export function rateLimitOf(limitStatus: LimitStatus, plan: Plan, cost: number): RateLimit {
  const { bannedUntil } = limitStatus;
  return {
    plan,
    cost,
    windows: windowsOf(limitStatus),
    bannedUntil: bannedUntil === undefined ? null : new Date(bannedUntil),
  };
}

function windowsOf({ windows }: LimitStatus): RateLimit['windows'] {
  return windows.map(({ name, limit, remaining, resetAt }) => ({
    name,
    limit,
    remaining,
    resetAt: new Date(resetAt),
  }));
}
