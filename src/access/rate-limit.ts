import { Field, Int, ObjectType } from 'type-graphql';
import { COUNT } from '../errors/input-rules';
import { AtMost } from '../graphql/cost-directives';
import { JsonSchema, Rules } from '../graphql/json-schema';
import { nullable } from '../graphql/nullable';
import { DateTime } from '../graphql/scalars';
import { Plan } from '../petstore/enum-types';

const MINUTE = { name: 'minute', limit: 60, remaining: 57, resetAt: '2026-11-21T10:00:30.000Z' };
const DAY = { name: 'day', limit: 1000, remaining: 997, resetAt: '2026-11-22T09:59:30.000Z' };

@Rules({ limit: COUNT, remaining: COUNT })
@JsonSchema({ example: MINUTE })
@ObjectType({
  simpleResolvers: true,
  description: 'One window of a quota. It starts with the first request counted in it.',
})
export class RateLimitWindow {
  @JsonSchema({ enum: ['minute', 'day'] })
  @Field(() => String, { description: '`minute` or `day`.' })
  name!: string;

  @Field(() => Int, { description: 'The maximum number of requests in the window.' })
  limit!: number;

  @Field(() => Int, { description: 'The number of requests left in it.' })
  remaining!: number;

  @Field(() => DateTime, { description: 'When it ends.' })
  resetAt!: Date;
}

@JsonSchema({ example: { plan: 'FREE', windows: [MINUTE, DAY] } })
@ObjectType({ simpleResolvers: true, description: "The caller's plan and remaining quota. Uses no quota." })
export class RateLimit {
  @Field(() => Plan, { description: 'The plan whose quota applies.' })
  plan!: Plan;

  @Field(() => Int, {
    description:
      'The number of requests this operation counts as: its counted root fields. `extensions.cost.estimated` of the response is another number: the values that it takes, by estimate, which are bounded.',
  })
  cost!: number;

  @AtMost(2)
  @JsonSchema({ minItems: 2, maxItems: 2 })
  @Field(() => [RateLimitWindow], { description: 'Both windows, after this operation.' })
  windows!: RateLimitWindow[];

  @Field(() => DateTime, nullable("When the caller's ban ends; null if it is not banned."))
  bannedUntil!: Date | null;
}
