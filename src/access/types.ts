import { ArgsType, Field, InputType, Int, ObjectType } from 'type-graphql';
import { Scope as KeyScope, Plan } from '../database/generated/enums';
import { Count, Cursor, NotNull, PageSize, Quantity, Range, SearchText, Text } from '../graphql/bounds';
import { Scope } from '../graphql/caller';
import { DEFAULT_PAGE } from '../graphql/connection';
import { connectionOf } from '../graphql/connection-types';
import { AtMost } from '../graphql/cost-directives';
import { nullable } from '../graphql/directives';
import { describedEnum, enumOf } from '../graphql/enums';
import { JsonSchema } from '../graphql/json-schema';
import { type AnyId, DateTime, Id, type IdForm, idOfForm, OtherId } from '../graphql/scalars';
import { PLANS, type Quota } from '../rate-limit/plans';
import { KEY_ID_FORM, KEY_ID_RULE } from './key-format';
import { DAYS, DEFAULT_DAYS } from './usage-service';

export { Plan };

/** A key id as the value of an argument of the type `ID`. */
class KeyId extends OtherId {
  constructor(private readonly text: string) {
    super();
  }

  override toString(): string {
    return this.text;
  }
}

/** The form of key ids. The `ID` scalar parses a key id of digits without a leading zero as a `bigint`, not as a `KeyId`. */
export const KEY_ID: IdForm = {
  type: idOfForm('KeyId'),
  description: 'API keys have key ids instead',
  rule: KEY_ID_RULE,
  parse: (text) => (KEY_ID_FORM.test(text) ? new KeyId(text) : undefined),
  fits: (id) => KEY_ID_FORM.test(String(id)),
};

describedEnum(Plan, 'Plan', 'A plan, which sets the quota of a caller.', {
  FREE: `${limitsOf(PLANS.FREE)} The plan of callers without a key.`,
  PRO: limitsOf(PLANS.PRO),
  BUSINESS: limitsOf(PLANS.BUSINESS),
  ENTERPRISE: 'Limits set per key.',
});

function limitsOf({ perMinute, perDay }: Quota): string {
  return `${withCommas(perMinute)} requests per minute, ${withCommas(perDay)} per day.`;
}

/** Does the same as `toLocaleString('en')`, whose first call takes 20 ms of each start. */
function withCommas(integer: number): string {
  return String(integer).replace(/\B(?=(\d{3})+$)/g, ',');
}

@ObjectType({ simpleResolvers: true, description: 'An API key. The secret itself is not stored.' })
export class ApiKey {
  @Field(() => Id, { description: 'The key id: the second part of the full key.' })
  id!: string;

  @Field(() => String, { description: 'What the key is for, or who owns it.' })
  name!: string;

  @Field(() => Plan, { description: 'The plan, which sets the quota of the key.' })
  plan!: Plan;

  @AtMost(Object.keys(KeyScope).length)
  @Field(() => [Scope], { description: 'The scopes granted to the key. WRITE includes READ; ADMIN includes both.' })
  scopes!: Scope[];

  @Field(
    () => Id,
    nullable(
      'The id of the key whose plan, limits and windows this key shares; null if this key has its own quota. Never changes.',
    ),
  )
  sharesQuotaOf!: string | null;

  @Field(() => Int, nullable('Requests per minute of an ENTERPRISE key; null for other plans.'))
  perMinute!: number | null;

  @Field(() => Int, nullable('Requests per day of an ENTERPRISE key; null for other plans.'))
  perDay!: number | null;

  @Field(() => DateTime, nullable('When the key expires; null if it does not.'))
  expiresAt!: Date | null;

  @Field(() => DateTime, nullable('When the key was revoked; null if it was not.'))
  revokedAt!: Date | null;

  @Field(() => DateTime, nullable('When the key was last used, to within a minute; null if it never was.'))
  lastUsedAt!: Date | null;

  @Field(() => DateTime, { description: 'When the key was created.' })
  createdAt!: Date;
}

export const ApiKeyConnection = connectionOf(ApiKey, 'ApiKey', 'API keys');

@ObjectType({ simpleResolvers: true, description: 'A key with its new secret.' })
export class CreatedApiKey {
  @Field(() => ApiKey, { description: 'The key as stored.' })
  apiKey!: ApiKey;

  @Field(() => String, { description: 'The full key, `ps_…`. It is shown only once: keep it safe.' })
  secret!: string;
}

@ObjectType({ simpleResolvers: true, description: 'The caller.' })
export class Viewer {
  @Field(() => String, nullable("The `sub` of an end user's token; null for keys and anonymous callers."))
  user!: string | null;

  @Field(() => String, {
    description: "The caller as logs and `liftBan` name it: a key id, an address, or an end user's `user:…`.",
  })
  callerId!: string;

  @Field(() => Plan, { description: "The caller's plan; FREE without a key or token." })
  plan!: Plan;

  @AtMost(Object.keys(Scope).length)
  @Field(() => [Scope], { description: "The caller's scopes, including implied scopes." })
  scopes!: Scope[];

  @Field(() => ApiKey, nullable('The API key that the caller uses; null if the caller uses no key.'))
  apiKey!: ApiKey | null;

  @Field(() => RateLimit, { description: "The caller's remaining quota." })
  rateLimit!: RateLimit;
}

const MINUTE = { name: 'minute', limit: 60, remaining: 57, resetAt: '2026-11-21T10:00:30.000Z' };
const DAY = { name: 'day', limit: 1000, remaining: 997, resetAt: '2026-11-22T09:59:30.000Z' };

@JsonSchema({ example: MINUTE })
@ObjectType({
  simpleResolvers: true,
  description: 'One window of a quota. It starts with the first request counted in it.',
})
class RateLimitWindow {
  @JsonSchema({ enum: ['minute', 'day'] })
  @Field(() => String, { description: '`minute` or `day`.' })
  name!: string;

  @Count()
  @Field(() => Int, { description: 'The maximum number of requests in the window.' })
  limit!: number;

  @Count()
  @Field(() => Int, { description: 'The number of requests left in the window.' })
  remaining!: number;

  @Field(() => DateTime, { description: 'When the window ends.' })
  resetAt!: Date;
}

@JsonSchema({ example: { plan: 'FREE', windows: [MINUTE, DAY] } })
@ObjectType({ simpleResolvers: true, description: "A caller's plan and remaining quota." })
export class RateLimit {
  @Field(() => Plan, { description: 'The plan whose quota applies.' })
  plan!: Plan;

  @Field(() => Int, {
    description:
      'The number of requests that this operation counts as: the number of its counted root fields. `extensions.cost.estimated` in the response is a different number: the estimated cost. It is roughly the number of values in the response, and has a separate limit.',
  })
  cost!: number;

  @AtMost(2)
  @JsonSchema({ minItems: 2, maxItems: 2 })
  @Field(() => [RateLimitWindow], {
    description: 'The minute and day windows of the quota, after this operation was charged.',
  })
  windows!: RateLimitWindow[];

  @Field(() => DateTime, nullable("When the caller's ban ends; null if the caller is not banned."))
  bannedUntil!: Date | null;
}

@ArgsType()
export class UsageArgs {
  @Range(DAYS)
  @Field(() => Int, { defaultValue: DEFAULT_DAYS, description: 'The number of days, today included: {bounds}.' })
  days!: number;
}

const REQUESTS = 'Requests that counted against the quota: one for each counted root field.';
export const REFUSED =
  'Requests refused with 429 (`RATE_LIMITED` or `KEY_BANNED`). Each operation counts as one request, regardless of its cost.';
export const BANS = 'Bans that began.';

@JsonSchema({ example: { date: '2026-11-23', requests: 812, refused: 3, bans: 0 } })
@ObjectType({
  simpleResolvers: true,
  description: "A caller's usage on one day. Days are in UTC. A count over 2147483647 is given as 2147483647.",
})
export class UsageDay {
  @JsonSchema({ format: 'date', maxLength: 10 })
  @Field(() => String, { description: 'The day in UTC, such as `2026-11-23`.' })
  date!: string;

  @Count()
  @Field(() => Int, { description: REQUESTS })
  requests!: number;

  @Count()
  @Field(() => Int, { description: REFUSED })
  refused!: number;

  @Count()
  @Field(() => Int, { description: BANS })
  bans!: number;
}

/** The bounds, in seconds, of the time for which the old secret of a rotated key is accepted. The maximum is 30 days. */
export const GRACE = { minimum: 0, maximum: 30 * 24 * 60 * 60 };

@ArgsType()
export class RotationArgs {
  @Range(GRACE)
  @Field(() => Int, {
    defaultValue: 24 * 60 * 60,
    description: 'How long the old secret still works, {bounds} seconds. With 0, it stops working at once.',
  })
  graceSeconds!: number;
}

@ArgsType()
export class TopCallersArgs {
  @Range(DAYS)
  @Field(() => Int, { defaultValue: 1, description: 'The number of days, today included: {bounds}.' })
  days!: number;

  @PageSize()
  @Field(() => Int, { defaultValue: DEFAULT_PAGE, description: 'The number of callers, {bounds}.' })
  first!: number;
}

export const CallerKind = enumOf('CallerKind', 'Who sent requests.', {
  KEY: 'One API key.',
  USERS: 'All end users together.',
  ANONYMOUS: 'All anonymous callers together.',
});
export type CallerKind = keyof typeof CallerKind;

@ObjectType({ simpleResolvers: true, description: 'The usage of a caller, summed over the requested days.' })
export class CallerUsage {
  @Field(() => CallerKind, { description: 'Whether the caller is a key, all end users, or all anonymous callers.' })
  kind!: CallerKind;

  @Field(() => ApiKey, nullable('The API key; null for all end users, and for all anonymous callers.'))
  apiKey!: ApiKey | null;

  @Field(() => Int, { description: REQUESTS })
  requests!: number;

  @Field(() => Int, { description: REFUSED })
  refused!: number;

  @Field(() => Int, { description: BANS })
  bans!: number;
}

@InputType({ description: 'A key to create.' })
export class NewApiKey {
  @Text(1, 255)
  @Field(() => String, { description: 'What the key is for, or who owns it; {bounds}.' })
  name!: string;

  @NotNull()
  @Field(() => Plan, nullable('The plan, which sets the quota of the key; FREE by default, and cannot be null.'))
  plan?: Plan;

  @Field(() => [Scope], { defaultValue: [Scope.READ, Scope.WRITE], description: 'The scopes to grant.' })
  scopes!: Scope[];

  @Quantity()
  @Field(() => Int, nullable('Requests per minute: required for ENTERPRISE, rejected for other plans.'))
  perMinute?: number | null;

  @Quantity()
  @Field(() => Int, nullable('Requests per day: required for ENTERPRISE, rejected for other plans.'))
  perDay?: number | null;

  @Field(() => DateTime, nullable('When the key expires.'))
  expiresAt?: Date | null;

  @Field(
    () => KEY_ID.type,
    nullable(
      'The id of another key of the same customer. The new key always has the plan and limits of that key, and the requests of both keys count in the same windows. `plan`, `perMinute` and `perDay` are then rejected. Secret, scopes, expiry, usage and bans are not shared.',
    ),
  )
  sharesQuotaOf?: AnyId | null;
}

@InputType({ description: 'Changes to a key. Omitted fields keep their values.' })
export class ApiKeyUpdate {
  @NotNull()
  @Text(1, 255)
  @Field(() => String, nullable('The new name; cannot be null.'))
  name?: string;

  @NotNull()
  @Field(
    () => Plan,
    nullable('The new plan; cannot be null. Any plan but ENTERPRISE removes `perMinute` and `perDay` from the key.'),
  )
  plan?: Plan;

  @NotNull()
  @Field(() => [Scope], nullable('The scopes to grant instead of the old scopes; cannot be null.'))
  scopes?: Scope[];

  @Quantity()
  @Field(() => Int, nullable('Requests per minute of an ENTERPRISE key.'))
  perMinute?: number | null;

  @Quantity()
  @Field(() => Int, nullable('Requests per day of an ENTERPRISE key.'))
  perDay?: number | null;

  @Field(() => DateTime, nullable('When the key expires; null means never.'))
  expiresAt?: Date | null;
}

@ArgsType()
export class ApiKeyPageArgs {
  @PageSize()
  @Field(() => Int, nullable(`Page size, {bounds}; ${DEFAULT_PAGE} by default.`))
  first?: number | null;

  @Cursor()
  @Field(() => String, nullable('Only items after this cursor.'))
  after?: string | null;

  @SearchText()
  @Field(() => String, nullable('Only keys whose name contains this text, ignoring case, or whose id begins with it.'))
  search?: string | null;

  @Field(
    () => Boolean,
    nullable('If true, only keys that are neither revoked nor expired; if false, only revoked or expired keys.'),
  )
  isActive?: boolean | null;
}
