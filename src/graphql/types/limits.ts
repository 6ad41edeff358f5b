import { Field, Int, ObjectType } from 'type-graphql';
import { Plan } from '../enums';
import { DateTime } from '../scalars';

@ObjectType({
  simpleResolvers: true,
  description: 'One window of a quota. It starts with the first request that it counts.',
})
export class RateLimitWindow {
  @Field(() => String, { description: '`minute` or `day`.' })
  name!: string;

  @Field(() => Int, { description: 'How many requests the window holds.' })
  limit!: number;

  @Field(() => Int, { description: 'How many are left in it.' })
  remaining!: number;

  @Field(() => DateTime, { description: 'When it ends.' })
  resetAt!: Date;
}

@ObjectType({ simpleResolvers: true, description: 'Where the caller stands. Asking for it is free.' })
export class RateLimit {
  @Field(() => Plan, { description: 'The plan whose quota is in force.' })
  plan!: Plan;

  @Field(() => Int, { description: 'How many requests this operation counts as: its counted root fields.' })
  cost!: number;

  @Field(() => [RateLimitWindow], { description: 'Both windows, after this operation.' })
  windows!: RateLimitWindow[];

  @Field(() => DateTime, {
    nullable: true,
    description: 'When the ban of this caller ends; null without one.',
  })
  bannedUntil!: Date | null;
}
