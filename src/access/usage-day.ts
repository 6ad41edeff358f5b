import { ArgsType, Field, Int, ObjectType } from 'type-graphql';
import { COUNT } from '../errors/input-rules';
import { JsonSchema, Rules } from '../graphql/json-schema';
import { DAYS, DEFAULT_DAYS } from './usage-service';

@Rules({ days: DAYS })
@ArgsType()
export class UsageArgs {
  @Field(() => Int, {
    defaultValue: DEFAULT_DAYS,
    description: `The number of days, today included: ${DAYS.minimum} to ${DAYS.maximum}.`,
  })
  days!: number;
}

export const REQUESTS = 'Requests that counted against the quota: one for each counted root field.';
export const REFUSED =
  'Requests refused with 429 by the limits, `RATE_LIMITED` or `KEY_BANNED`: one for each operation.';
export const BANS = 'Bans that began.';

@Rules({ requests: COUNT, refused: COUNT, bans: COUNT })
@JsonSchema({ example: { date: '2026-11-23', requests: 812, refused: 3, bans: 0 } })
@ObjectType({
  simpleResolvers: true,
  description: 'What a caller used on a day. Days are in UTC. A count that exceeds 2147483647 is given as that.',
})
export class UsageDay {
  @JsonSchema({ format: 'date', maxLength: 10 })
  @Field(() => String, { description: 'The day in UTC, such as `2026-11-23`.' })
  date!: string;

  @Field(() => Int, { description: REQUESTS })
  requests!: number;

  @Field(() => Int, { description: REFUSED })
  refused!: number;

  @Field(() => Int, { description: BANS })
  bans!: number;
}
