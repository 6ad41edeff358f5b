import { Args, Ctx, FieldResolver, Query, Resolver } from 'type-graphql';
import type { ApiKeyService } from '../../access/api-key-service';
import { Sized } from '../../cost/cost-directives';
import { DEFAULT_PAGE } from '../../domain/connection';
import { Errors } from '../../errors/errors-directive';
import { Counted, Requires } from '../../graphql/directives/directives';
import type { Context } from '../../graphql/executor/context';
import { ANONYMOUS } from '../../usage/daily-usage';
import { DEFAULT_DAYS, type UsageService } from '../../usage/usage-service';
import { Viewer } from '../types/api-key';
import { CallerUsage, TopCallersArgs } from '../types/caller-usage';
import { UsageArgs, UsageDay } from '../types/usage-day';

// Usage is read from the primary: replicas lag behind what callers know that they have sent.

@Resolver(() => Viewer)
export class UsageResolver {
  constructor(
    private readonly usage: UsageService,
    private readonly keys: ApiKeyService,
  ) {}

  @Sized('days', DEFAULT_DAYS)
  @FieldResolver(() => [UsageDay], {
    name: 'usage',
    description:
      'What the API key of the caller used, by day, today last. Empty without a key: anonymous callers are counted together.',
  })
  async ofViewer(@Args(() => UsageArgs) { days }: UsageArgs, @Ctx() { request }: Context): Promise<UsageDay[]> {
    const { session, caller } = request;
    const ids = caller.keyId === undefined ? [] : [caller.keyId];
    const usage = await this.usage.daily(session, ids, days);
    return ids.flatMap((id) => usage.get(id) ?? []);
  }

  @Counted()
  @Requires('ADMIN')
  @Sized('first', DEFAULT_PAGE)
  @Errors('BAD_USER_INPUT')
  @Query(() => [CallerUsage], {
    name: 'topCallers',
    description: 'The callers with the most requests on the last days. All anonymous callers together are one of them.',
  })
  async top(
    @Args(() => TopCallersArgs) { days, first }: TopCallersArgs,
    @Ctx() { request: { session } }: Context,
  ): Promise<object[]> {
    const callers = await this.usage.top(session, days, first);
    const ids = callers.map(({ caller }) => caller).filter((caller) => caller !== ANONYMOUS);
    const keys = await this.keys.find(session, ids);
    return callers.map(({ caller, ...used }) => ({ ...used, apiKey: keys.get(caller) ?? null }));
  }
}
