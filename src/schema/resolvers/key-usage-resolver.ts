import { Args, Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import type { StoredKey } from '../../access/caller';
import { Sized } from '../../cost/cost-directives';
import { refuseScope } from '../../graphql/executor/admission';
import type { Context } from '../../graphql/executor/context';
import { Selected } from '../../graphql/executor/selected';
import type { Selection } from '../../reading/selection';
import { DEFAULT_DAYS, type UsageService } from '../../usage/usage-service';
import { ApiKey } from '../types/api-key';
import { UsageArgs, UsageDay } from '../types/usage-day';

@Resolver(() => ApiKey)
export class KeyUsageResolver {
  constructor(private readonly usage: UsageService) {}

  @Sized('days', DEFAULT_DAYS)
  @FieldResolver(() => [UsageDay], {
    name: 'usage',
    description: 'What the key used, by day, today last. For the key itself, and for callers with the scope ADMIN.',
  })
  ofKey(
    @Root() { id }: StoredKey,
    @Args(() => UsageArgs) { days }: UsageArgs,
    @Ctx() { request, loaders }: Context,
    @Selected() selection: Selection,
  ): Promise<UsageDay[] | undefined> {
    const { session, caller } = request;
    const refused = caller.keyId === id ? undefined : refuseScope(caller, 'ADMIN');
    if (refused) throw refused;
    return loaders.load(selection, id, (ids: readonly string[]) => this.usage.daily(session, ids, days));
  }
}
