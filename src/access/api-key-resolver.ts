import { Arg, Args, Ctx, Extensions, FieldResolver, Mutation, Query, Resolver, Root } from 'type-graphql';
import type { Session } from '../database/database';
import { badInput } from '../errors/errors';
import { notOfForm } from '../errors/input-checks';
import { requireScope } from '../graphql/admission';
import { DEFAULT_PAGE } from '../graphql/connection';
import type { Context } from '../graphql/context';
import { Paged, Sized, WEIGHTS, Weighs } from '../graphql/cost-directives';
import { Errors, Input, nullable, RateLimited, RequiresScope } from '../graphql/directives';
import { NEVER_STORED } from '../graphql/idempotency';
import { type AnyId, DateTime } from '../graphql/scalars';
import { idOfAddress, UNKNOWN } from '../rate-limit/client-address';
import type { LimitStatus } from '../rate-limit/limit-status';
import type { Limiter } from '../rate-limit/limiter';
import { accountOf, keyCaller, rejectedTokensOf, type StoredKey, USER_ID_FORM } from './account';
import { type ApiKeyService, listKeys } from './api-key-service';
import { KEY_ID_FORM } from './key-format';
import {
  ApiKey,
  ApiKeyConnection,
  ApiKeyPageArgs,
  ApiKeyUpdate,
  type CallerKind,
  CallerUsage,
  CreatedApiKey,
  KEY_ID,
  NewApiKey,
  RateLimit,
  RotationArgs,
  TopCallersArgs,
  UsageArgs,
  UsageDay,
} from './types';
import { ANONYMOUS, USERS } from './usage';
import { DEFAULT_DAYS, type UsageService } from './usage-service';
import { rateLimitOf } from './viewer-resolver';

const IdOfKey = () => Arg('id', () => KEY_ID.type, { description: 'The key id.' });

@Resolver(() => ApiKey)
export class ApiKeyResolver {
  constructor(
    private readonly keys: ApiKeyService,
    private readonly limits: Limiter,
    private readonly usage: UsageService,
  ) {}

  @RateLimited()
  @RequiresScope('ADMIN')
  @Paged('first')
  @Errors('BAD_USER_INPUT')
  @Query(() => ApiKeyConnection, { name: 'apiKeys', description: 'API keys, newest first, one page at a time.' })
  list(@Args(() => ApiKeyPageArgs) args: ApiKeyPageArgs, @Ctx() { session }: Context) {
    return listKeys(session, args);
  }

  @Weighs(WEIGHTS.statement)
  @RateLimited()
  @RequiresScope('ADMIN')
  @Errors('BAD_USER_INPUT')
  @Query(() => ApiKey, {
    name: 'apiKey',
    nullable: true,
    description: 'The API key with this id; null if there is none.',
  })
  async one(@IdOfKey() id: AnyId, @Ctx() { session }: Context) {
    const keyId = String(id);
    return (await this.keys.find(session, [keyId])).get(keyId);
  }

  @RateLimited()
  @RequiresScope('ADMIN')
  @Weighs(WEIGHTS.usage)
  @Sized('first', DEFAULT_PAGE)
  @Errors('BAD_USER_INPUT')
  @Query(() => [CallerUsage], {
    description:
      'The callers with the most requests on the last `days` days. All end users together count as one caller, and so do all anonymous callers.',
  })
  async topCallers(
    @Args(() => TopCallersArgs) { days, first }: TopCallersArgs,
    @Ctx() { operationRequest: { session } }: Context,
  ): Promise<object[]> {
    const callers = await this.usage.top(session, days, first);
    const keyIds = callers.map(({ caller }) => caller).filter((caller) => kindOf(caller) === 'KEY');
    const keys = await this.keys.find(session, keyIds);
    return callers.map(({ caller, ...used }) => ({ ...used, kind: kindOf(caller), apiKey: keys.get(caller) ?? null }));
  }

  @Weighs(WEIGHTS.creation)
  @RateLimited()
  @RequiresScope('ADMIN')
  @Errors('BAD_USER_INPUT', 'UNKNOWN_REFERENCE')
  @Mutation(() => CreatedApiKey, nullable('Creates a key. The full key is shown only in this response.'))
  createApiKey(@Input(NewApiKey, 'The key to create.') input: NewApiKey, @Ctx() { session }: Context) {
    return this.keys.create(session, input);
  }

  @Weighs(WEIGHTS.change)
  @RateLimited()
  @RequiresScope('ADMIN')
  @Errors('BAD_USER_INPUT', 'NOT_FOUND')
  @Mutation(() => ApiKey, nullable('Updates the given fields of a key; other fields keep their values.'))
  updateApiKey(@IdOfKey() id: AnyId, @Input(ApiKeyUpdate) input: ApiKeyUpdate, @Ctx() { session }: Context) {
    return this.keys.update(session, String(id), input);
  }

  @Weighs(WEIGHTS.change)
  @RateLimited()
  @RequiresScope('WRITE')
  @Errors('BAD_USER_INPUT', 'FORBIDDEN', 'NOT_FOUND')
  @Extensions(NEVER_STORED)
  @Mutation(
    () => ApiKey,
    nullable(
      'Revokes a key: at once on this instance, within seconds on others. This cannot be undone. A caller may revoke its own key with the current secret of the key. To revoke another key, the caller needs the scope ADMIN.',
    ),
  )
  revokeApiKey(@IdOfKey() id: AnyId, @Ctx() { session, operationRequest }: Context) {
    return this.keys.revoke(session, accountOf(operationRequest.caller), String(id));
  }

  @Weighs(WEIGHTS.change)
  @RateLimited()
  @RequiresScope('WRITE')
  @Errors('BAD_USER_INPUT', 'FORBIDDEN', 'NOT_FOUND')
  @Extensions(NEVER_STORED)
  @Mutation(
    () => CreatedApiKey,
    nullable(
      'Gives a key a new secret, which only this response shows. The key keeps its id, plan, quota, ban and idempotency keys. The old secret works until the grace period ends; all earlier secrets stop working. Takes effect at once on this instance, within seconds on others. A caller may rotate its own key with the current secret of the key. To rotate another key, the caller needs the scope ADMIN.',
    ),
  )
  rotateApiKey(
    @IdOfKey() id: AnyId,
    @Args(() => RotationArgs) { graceSeconds }: RotationArgs,
    @Ctx() { session, operationRequest }: Context,
  ) {
    return this.keys.rotate(session, accountOf(operationRequest.caller), String(id), graceSeconds);
  }

  @Weighs(WEIGHTS.statement)
  @RateLimited()
  @RequiresScope('ADMIN')
  @Errors('BAD_USER_INPUT')
  @Mutation(() => Boolean, nullable("Lifts a caller's ban. Returns false if the caller was not banned."))
  async liftBan(
    @Arg('caller', () => String, {
      description:
        "A key id, a client address (`unknown` for addresses that cannot be read), or a user's id: `user:…`.",
    })
    caller: string,
    @Ctx() { session }: Context,
  ) {
    const [id, windowsOf] = await this.banned(session, caller);
    const callers = USER_ID_FORM.test(id) ? [id, rejectedTokensOf(id)] : [id];
    return this.keys.liftBan(session, id, async () => {
      const lifted = await Promise.all(callers.map((each) => this.limits.liftBan(each, windowsOf)));
      return lifted.includes(true);
    });
  }

  /** The banned caller, and the key whose windows it uses. @throws ProblemError `BAD_USER_INPUT`. */
  private async banned(session: Session, caller: string): Promise<[id: string, windowsOf?: string]> {
    if (KEY_ID_FORM.test(caller)) {
      const key = (await this.keys.find(session, [caller])).get(caller);
      return [caller, key?.sharesQuotaOf ?? undefined];
    }
    if (USER_ID_FORM.test(caller)) return [caller];
    const address = idOfAddress(caller);
    if (address === UNKNOWN && caller !== UNKNOWN)
      throw badInput({ path: 'caller', ...notOfForm("a key id, an IP address or a user's id") });
    return [address];
  }

  @Weighs(WEIGHTS.statement)
  @FieldResolver(() => RateLimit, { description: "The key's remaining quota." })
  async rateLimit(@Root() key: StoredKey, @Ctx() context: Context): Promise<RateLimit> {
    return rateLimitOf(await this.statusOf(key, context), key.plan, context.countedFields);
  }

  @Weighs(WEIGHTS.statement)
  @FieldResolver(
    () => DateTime,
    nullable("When the key's old secret expires after a rotation; null if the key has no old secret."),
  )
  oldSecretExpiresAt(@Root() key: StoredKey) {
    return this.keys.oldSecretExpiresAt(key);
  }

  @FieldResolver(() => DateTime, nullable('When the ban of the key ends; null if the key is not banned.'))
  async bannedUntil(@Root() key: StoredKey, @Ctx() context: Context) {
    const { bannedUntil } = await this.statusOf(key, context);
    return bannedUntil === undefined ? null : new Date(bannedUntil);
  }

  /** The status of a key's limits, read once for all fields of the key. */
  private async statusOf(key: StoredKey, { loaders }: Context): Promise<LimitStatus> {
    const read = async (keys: readonly StoredKey[]) =>
      new Map(await Promise.all(keys.map(async (each) => [each, await this.limits.peek(keyCaller(each))] as const)));
    return (await loaders.load('limits', key, read)) as LimitStatus;
  }

  @Weighs(WEIGHTS.usage)
  @Sized('days', DEFAULT_DAYS)
  @FieldResolver(() => [UsageDay], {
    name: 'usage',
    description:
      "The key's usage by day, today last. Only the key itself and callers with the scope ADMIN can read this field.",
  })
  usageOf(
    @Root() { id }: StoredKey,
    @Args(() => UsageArgs) { days }: UsageArgs,
    @Ctx() context: Context,
  ): Promise<readonly UsageDay[]> {
    const { caller } = context.operationRequest;
    if (caller.keyId !== id) requireScope(caller, 'ADMIN');
    return this.usage.daily(context, id, days);
  }
}

function kindOf(caller: string): CallerKind {
  if (caller === ANONYMOUS) return 'ANONYMOUS';
  return caller === USERS ? 'USERS' : 'KEY';
}
