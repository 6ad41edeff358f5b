import { Field, Int, ObjectType } from 'type-graphql';
import { AtMost } from '../graphql/cost-directives';
import { nullable } from '../graphql/nullable';
import { DateTime, Id } from '../graphql/scalars';
import { Plan, Scope } from '../petstore/enum-types';
import { RateLimit } from './rate-limit';

@ObjectType({ simpleResolvers: true, description: 'An API key. The secret itself is not stored.' })
export class ApiKey {
  @Field(() => Id, { description: 'The key id: the second part of the full key.' })
  id!: string;

  @Field(() => String, { description: 'What the key is for, or who owns it.' })
  name!: string;

  @Field(() => Plan, { description: 'The plan, which sets the quota of the key.' })
  plan!: Plan;

  @AtMost(Object.keys(Scope).length)
  @Field(() => [Scope], { description: 'The scopes granted to the key. WRITE includes READ; ADMIN includes both.' })
  scopes!: Scope[];

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

@ObjectType({ simpleResolvers: true, description: 'A key with its new secret.' })
export class CreatedApiKey {
  @Field(() => ApiKey, { description: 'The key as stored.' })
  apiKey!: ApiKey;

  @Field(() => String, { description: 'The full key, `ps_…`. It is shown only once: keep it safe.' })
  secret!: string;
}

@ObjectType({ simpleResolvers: true, description: 'The caller.' })
export class Viewer {
  @Field(() => Plan, { description: "The caller's plan; FREE without a key." })
  plan!: Plan;

  @AtMost(Object.keys(Scope).length)
  @Field(() => [Scope], { description: "The caller's scopes, including implied ones." })
  scopes!: Scope[];

  @Field(() => ApiKey, nullable('The API key that the caller uses; null without one.'))
  apiKey!: ApiKey | null;

  @Field(() => RateLimit, { description: "The caller's remaining quota." })
  rateLimit!: RateLimit;
}
