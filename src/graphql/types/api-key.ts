import { Field, Int, ObjectType } from 'type-graphql';
import { Plan, Scope } from '../enums';
import { DateTime, Id } from '../scalars';
import { RateLimit } from './limits';

@ObjectType({
  simpleResolvers: true,
  description: 'A key that calls are made with. Its secret is nowhere kept.',
})
export class ApiKey {
  @Field(() => Id, { description: 'The key id: the second part of the whole key.' })
  id!: string;

  @Field(() => String, { description: 'What it is for, or whose it is.' })
  name!: string;

  @Field(() => Plan, { description: 'The plan whose quota it has.' })
  plan!: Plan;

  @Field(() => [Scope], { description: 'What it was given; WRITE includes READ, ADMIN includes both.' })
  scopes!: Scope[];

  @Field(() => Int, {
    nullable: true,
    description: 'Requests a minute of an ENTERPRISE key; null for the other plans.',
  })
  perMinute!: number | null;

  @Field(() => Int, {
    nullable: true,
    description: 'Requests a day of an ENTERPRISE key; null for the other plans.',
  })
  perDay!: number | null;

  @Field(() => DateTime, {
    nullable: true,
    description: 'From when on it is refused; null if it does not expire.',
  })
  expiresAt!: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'When it was revoked; null while it is good.' })
  revokedAt!: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'When it was last used, to within a minute.' })
  lastUsedAt!: Date | null;

  @Field(() => DateTime, { description: 'When it was made.' })
  createdAt!: Date;
}

@ObjectType({ simpleResolvers: true, description: 'A new key.' })
export class CreatedApiKey {
  @Field(() => ApiKey, { description: 'The key as it is kept.' })
  apiKey!: ApiKey;

  @Field(() => String, { description: 'The whole key, `ps_…`. It is shown once: keep it safe.' })
  secret!: string;
}

@ObjectType({ simpleResolvers: true, description: 'The caller.' })
export class Viewer {
  @Field(() => Plan, { description: 'Its plan; FREE without a key.' })
  plan!: Plan;

  @Field(() => [Scope], { description: 'All that it may do.' })
  scopes!: Scope[];

  @Field(() => ApiKey, { nullable: true, description: 'The key that it calls with; null without one.' })
  apiKey!: ApiKey | null;

  @Field(() => RateLimit, { description: 'Where it stands.' })
  rateLimit!: RateLimit;
}
