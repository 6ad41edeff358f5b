import { Args, Ctx, FieldResolver, Query, Resolver } from 'type-graphql';
import type { Context } from '../graphql/context';
import { Sized, WEIGHTS, Weighs } from '../graphql/cost-directives';
import { Errors } from '../graphql/directives';
import type { LimitStatus } from '../rate-limit/limit-status';
import type { Plan } from '../rate-limit/plans';
import { accountOf } from './account';
import { RateLimit, UsageArgs, UsageDay, Viewer } from './types';
import { DEFAULT_DAYS, type UsageService } from './usage-service';

@Resolver(() => Viewer)
export class ViewerResolver {
  constructor(private readonly usage: UsageService) {}

  @Query(() => RateLimit, { description: "The caller's plan and remaining quota. Uses no quota." })
  async rateLimit(@Ctx() { operationRequest, countedFields }: Context): Promise<RateLimit> {
    return rateLimitOf(
      await operationRequest.meter.chargeOrThrow(countedFields),
      accountOf(operationRequest.caller).plan,
      countedFields,
    );
  }

  @Errors('BAD_USER_INPUT')
  @Query(() => Viewer, { description: 'The caller: its plan, scopes, API key and usage. Uses no quota.' })
  async viewer(@Ctx() context: Context): Promise<object> {
    const { id: callerId, sub: user = null, plan, scopes, apiKey = null } = accountOf(context.operationRequest.caller);
    return { user, callerId, plan, scopes: [...scopes], apiKey, rateLimit: await this.rateLimit(context) };
  }

  @Weighs(WEIGHTS.usage)
  @Sized('days', DEFAULT_DAYS)
  @FieldResolver(() => [UsageDay], {
    name: 'usage',
    description:
      "The usage of the caller's API key by day, today last. Without a key the list is empty: end users are counted together, and so are anonymous callers.",
  })
  async usageOf(@Args(() => UsageArgs) { days }: UsageArgs, @Ctx() context: Context): Promise<readonly UsageDay[]> {
    const { keyId } = context.operationRequest.caller;
    return this.usage.daily(context, keyId, days);
  }
}

/** @param cost the number of requests that the current operation counts as. */
export function rateLimitOf({ windows, bannedUntil }: LimitStatus, plan: Plan, cost: number): RateLimit {
  return {
    plan,
    cost,
    windows: windows.map((window) => ({ ...window, resetAt: new Date(window.resetAt) })),
    bannedUntil: bannedUntil === undefined ? null : new Date(bannedUntil),
  };
}
