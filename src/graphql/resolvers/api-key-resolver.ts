import { Arg, Ctx, FieldResolver, Int, Mutation, Query, Resolver, Root } from 'type-graphql';
import type { ApiKeyService } from '../../access/api-key-service';
import { quotaOf, type StoredKey } from '../../access/caller';
import { KEY_ID_FORM } from '../../access/secret';
import { badInput } from '../../domain/errors';
import { subjectOfAddress } from '../../rate-limit/client-address';
import type { Store } from '../../rate-limit/store';
import type { Context } from '../context';
import { Paged } from '../cost-directives';
import { Counted, Requires } from '../directives';
import { ApiKeyUpdate, NewApiKey } from '../inputs/api-keys';
import { DateTime, Id, type KeyId, keyIdOf } from '../scalars';
import { ApiKey, CreatedApiKey } from '../types/api-key';
import { ApiKeyConnection } from '../types/connections';

@Resolver(() => ApiKey)
export class ApiKeyResolver {
  constructor(
    private readonly keys: ApiKeyService,
    private readonly limits: Store,
  ) {}

  @Counted()
  @Requires('ADMIN')
  @Paged('first')
  @Query(() => ApiKeyConnection, { name: 'apiKeys', description: 'All API keys, the newest first.' })
  list(
    @Arg('first', () => Int, { nullable: true, description: 'Take this many, 1 to 100; 20 unless given.' })
    first: number | null | undefined,
    @Arg('after', () => String, { nullable: true, description: 'Only what comes after this cursor.' })
    after: string | null | undefined,
    @Ctx() { session }: Context,
  ) {
    return this.keys.list(session, first, after);
  }

  @Counted()
  @Requires('ADMIN')
  @Mutation(() => CreatedApiKey, { description: 'Makes a key. Its secret is shown this once.' })
  createApiKey(
    @Arg('input', () => NewApiKey, { description: 'What to create it from.' }) input: NewApiKey,
    @Ctx() { session }: Context,
  ) {
    return this.keys.create(session, input);
  }

  @Counted()
  @Requires('ADMIN')
  @Mutation(() => ApiKey, { description: 'Changes what the input gives; the rest stays.' })
  updateApiKey(
    @Arg('id', () => Id, { description: 'Which key.', validateFn: acceptKeyId }) id: bigint | KeyId,
    @Arg('input', () => ApiKeyUpdate, { description: 'What to change.' }) input: ApiKeyUpdate,
    @Ctx() { session }: Context,
  ) {
    return this.keys.update(session, keyIdOf(id), input);
  }

  @Counted()
  @Requires('ADMIN')
  @Mutation(() => ApiKey, {
    description: 'Ends a key: here at once, on other instances within seconds. There is no way back.',
  })
  revokeApiKey(
    @Arg('id', () => Id, { description: 'Which key.', validateFn: acceptKeyId }) id: bigint | KeyId,
    @Ctx() { session }: Context,
  ) {
    return this.keys.revoke(session, keyIdOf(id));
  }

  @Counted()
  @Requires('ADMIN')
  @Mutation(() => Boolean, { description: 'Ends the ban of a caller. False if there was none.' })
  liftBan(@Arg('caller', () => String, { description: 'A key id or a client address.' }) caller: string) {
    if (KEY_ID_FORM.test(caller)) return this.limits.liftBan(caller);
    const address = subjectOfAddress(caller);
    if (address === 'unknown')
      throw badInput({ path: 'caller', message: 'must be a key id or an IP address' });
    return this.limits.liftBan(address);
  }

  @FieldResolver(() => DateTime, { nullable: true, description: 'When its ban ends; null without one.' })
  async bannedUntil(@Root() key: StoredKey) {
    const { bannedUntil } = await this.limits.peek({ id: key.id, quota: quotaOf(key) });
    return bannedUntil === undefined ? null : new Date(bannedUntil);
  }
}

/** In place of the check that refuses key ids elsewhere. */
function acceptKeyId(): void {}
