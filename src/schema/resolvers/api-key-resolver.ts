import { Arg, Args, Ctx, FieldResolver, Int, Mutation, Query, Resolver, Root } from 'type-graphql';
import { listKeys } from '../../access/api-key-list';
import { type ApiKeyService, GRACE } from '../../access/api-key-service';
import { quotaOf, type StoredKey } from '../../access/caller';
import { KEY_ID_FORM } from '../../access/secret';
import { Paged } from '../../cost/cost-directives';
import { badInput } from '../../domain/domain-error';
import { Errors } from '../../errors/errors-directive';
import { Counted, Requires } from '../../graphql/directives/directives';
import type { Context } from '../../graphql/executor/context';
import { subjectOfAddress } from '../../rate-limit/client-address';
import type { Store } from '../../rate-limit/stores/store';
import { ApiKeyPageArgs, ApiKeyUpdate, NewApiKey } from '../inputs/api-keys';
import { type AnyId, DateTime, Id, keyIdOf } from '../scalars';
import { ApiKey, CreatedApiKey } from '../types/api-key';
import { ApiKeyConnection } from '../types/connection-types';
import { RateLimit } from '../types/rate-limit';
import { rateLimitOf } from './viewer-resolver';

@Resolver(() => ApiKey)
export class ApiKeyResolver {
  constructor(
    private readonly keys: ApiKeyService,
    private readonly limits: Store,
  ) {}

  @Counted()
  @Requires('ADMIN')
  @Paged('first')
  @Errors('BAD_USER_INPUT')
  @Query(() => ApiKeyConnection, { name: 'apiKeys', description: 'API keys, newest first, one page at a time.' })
  list(@Args(() => ApiKeyPageArgs) args: ApiKeyPageArgs, @Ctx() { session }: Context) {
    return listKeys(session, args);
  }

  @Counted()
  @Requires('ADMIN')
  @Errors('BAD_USER_INPUT')
  @Query(() => ApiKey, {
    name: 'apiKey',
    nullable: true,
    description: 'The API key with this id; null if there is none.',
  })
  async one(
    @Arg('id', () => Id, { description: 'The key id.', validateFn: acceptKeyId }) id: AnyId,
    @Ctx() { session }: Context,
  ) {
    const keyId = keyIdOf(id);
    return (await this.keys.find(session, [keyId])).get(keyId);
  }

  @Counted()
  @Requires('ADMIN')
  @Errors('BAD_USER_INPUT')
  @Mutation(() => CreatedApiKey, {
    nullable: true,
    description: 'Creates a key. The full key is shown only in this response.',
  })
  createApiKey(
    @Arg('input', () => NewApiKey, { description: 'The key to create.' }) input: NewApiKey,
    @Ctx() { session }: Context,
  ) {
    return this.keys.create(session, input);
  }

  @Counted()
  @Requires('ADMIN')
  @Errors('BAD_USER_INPUT', 'NOT_FOUND')
  @Mutation(() => ApiKey, {
    nullable: true,
    description: 'Updates the given fields of a key; the others keep their values.',
  })
  updateApiKey(
    @Arg('id', () => Id, { description: 'The key id.', validateFn: acceptKeyId }) id: AnyId,
    @Arg('input', () => ApiKeyUpdate, { description: 'The fields to update.' }) input: ApiKeyUpdate,
    @Ctx() { session }: Context,
  ) {
    return this.keys.update(session, keyIdOf(id), input);
  }

  @Counted()
  @Requires('ADMIN')
  @Errors('BAD_USER_INPUT', 'NOT_FOUND')
  @Mutation(() => ApiKey, {
    nullable: true,
    description: 'Revokes a key: at once on this instance, within seconds on others. This cannot be undone.',
  })
  revokeApiKey(
    @Arg('id', () => Id, { description: 'The key id.', validateFn: acceptKeyId }) id: AnyId,
    @Ctx() { session }: Context,
  ) {
    return this.keys.revoke(session, keyIdOf(id));
  }

  @Counted()
  @Requires('ADMIN')
  @Errors('BAD_USER_INPUT', 'NOT_FOUND')
  @Mutation(() => CreatedApiKey, {
    nullable: true,
    description:
      'Gives a key a new secret, which only this response shows. Its id, plan, quota, ban and idempotency keys stay. The old secret works until the grace ends, and the one before it no more. Takes effect at once on this instance, within seconds on others.',
  })
  rotateApiKey(
    @Arg('id', () => Id, { description: 'The key id.', validateFn: acceptKeyId }) id: AnyId,
    @Arg('graceSeconds', () => Int, {
      defaultValue: 24 * 60 * 60,
      description: `How long the old secret still works, ${GRACE.minimum} to ${GRACE.maximum} seconds; 0 ends it at once.`,
    })
    graceSeconds: number,
    @Ctx() { session }: Context,
  ) {
    return this.keys.rotate(session, keyIdOf(id), graceSeconds);
  }

  @Counted()
  @Requires('ADMIN')
  @Errors('BAD_USER_INPUT')
  @Mutation(() => Boolean, { nullable: true, description: "Lifts a caller's ban. False if there was none." })
  liftBan(@Arg('caller', () => String, { description: 'A key id or a client address.' }) caller: string) {
    if (KEY_ID_FORM.test(caller)) return this.limits.liftBan(caller);
    const address = subjectOfAddress(caller);
    if (address === 'unknown') throw badInput({ path: 'caller', message: 'must be a key id or an IP address' });
    return this.limits.liftBan(address);
  }

  @FieldResolver(() => RateLimit, { description: "What is left of the key's quota." })
  async rateLimit(@Root() key: StoredKey, @Ctx() { charge }: Context): Promise<RateLimit> {
    return rateLimitOf(await this.limits.peek({ id: key.id, quota: quotaOf(key) }), key.plan, charge.cost);
  }

  @FieldResolver(() => DateTime, {
    nullable: true,
    description: 'When the ban of the key ends; null if it is not banned.',
  })
  async bannedUntil(@Root() key: StoredKey) {
    const { bannedUntil } = await this.limits.peek({ id: key.id, quota: quotaOf(key) });
    return bannedUntil === undefined ? null : new Date(bannedUntil);
  }
}

/** Replaces the default check, which rejects key ids. */
function acceptKeyId(): void {}
