import { ArgsType, Field, Int, ObjectType } from 'type-graphql';
import { PAGE_SIZE } from '../errors/input-rules';
import { DEFAULT_PAGE } from '../graphql/connection';
import { Rules } from '../graphql/json-schema';
import { nullable } from '../graphql/nullable';
import { ApiKey } from './api-key';
import { BANS, REFUSED, REQUESTS } from './usage-day';
import { DAYS } from './usage-service';

@Rules({ days: DAYS, first: PAGE_SIZE })
@ArgsType()
export class TopCallersArgs {
  @Field(() => Int, {
    defaultValue: 1,
    description: `The number of days, today included: ${DAYS.minimum} to ${DAYS.maximum}.`,
  })
  days!: number;

  @Field(() => Int, {
    defaultValue: DEFAULT_PAGE,
    description: `The number of callers, ${PAGE_SIZE.minimum} to ${PAGE_SIZE.maximum}.`,
  })
  first!: number;
}

@ObjectType({ simpleResolvers: true, description: 'What a caller used on several days together.' })
export class CallerUsage {
  @Field(() => ApiKey, nullable('The API key; null for all anonymous callers together.'))
  apiKey!: ApiKey | null;

  @Field(() => Int, { description: REQUESTS })
  requests!: number;

  @Field(() => Int, { description: REFUSED })
  refused!: number;

  @Field(() => Int, { description: BANS })
  bans!: number;
}
