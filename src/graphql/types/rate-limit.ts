import { Field, Int, ObjectType } from 'type-graphql';
import { Plan } from '../contract/enum-types';
import { DateTime } from '../contract/scalars';

@ObjectType({
  simpleResolvers: true,
  description: 'One window of a quota. It starts with the first request counted in it.',
})
export class RateLimitWindow {
  @Field(() => String, { description: '`minute` or `day`.' })
  name!: string;

  @Field(() => Int, { description: 'The maximum number of requests in the window.' })
  limit!: number;

  @Field(() => Int, { description: 'The number of requests left in it.' })
  remaining!: number;

  @Field(() => DateTime, { description: 'When it ends.' })
  resetAt!: Date;
}

@ObjectType({
  simpleResolvers: true,
  description: "The caller's plan and remaining quota. Querying it is free.",
})
export class RateLimit {
  @Field(() => Plan, { description: 'The plan whose quota applies.' })
  plan!: Plan;

  @Field(() => Int, {
    description: 'The number of requests this operation counts as: its counted root fields.',
  })
  cost!: number;

  @Field(() => [RateLimitWindow], { description: 'Both windows, after this operation.' })
  windows!: RateLimitWindow[];

  @Field(() => DateTime, {
    nullable: true,
    description: "When the caller's ban ends; null if it is not banned.",
  })
  bannedUntil!: Date | null;
}
