import { ArgsType, Extensions, Field, Int, ObjectType } from 'type-graphql';
import { Cursor, PageSize } from '../graphql/bounds';
import { DEFAULT_PAGE } from '../graphql/connection';
import { uncountedConnectionOf } from '../graphql/connection-types';
import { nullable } from '../graphql/directives';
import { EventKind, EventTopic } from '../graphql/event-enums';
import { JsonSchema } from '../graphql/json-schema';
import { DateTime, Id } from '../graphql/scalars';
import { isPlace, NOT_A_PLACE } from './event-cursor';

@ObjectType({
  simpleResolvers: true,
  description: 'An event in the change feed: one write to an object, or a lifted ban.',
})
export class Event {
  @Field(() => Id, { description: 'The id of the event. Ids are unique, but not in the order of the feed.' })
  id!: bigint;

  @JsonSchema({ example: 'NjM4YjI0ZTcxIDEgMTc5NTg2MDAwMDAwMA', maxLength: 128 })
  @Field(() => String, {
    description: 'The cursor of the event. Pass it as `after` to read the events that follow.',
  })
  cursor!: string;

  @Field(() => DateTime, { description: 'When the change was made.' })
  at!: Date;

  @Field(() => EventTopic, { description: 'The kind of object.' })
  topic!: string;

  @Field(() => EventKind, { description: 'What has happened to the object.' })
  kind!: string;

  @Extensions({ restScalar: 'String' })
  @JsonSchema({ example: '1', maxLength: 64 })
  @Field(() => Id, {
    description:
      'The id of the object. For stock, this is the id of the pet. For a lifted ban, it is the id of the caller.',
  })
  objectId!: string;

  @JsonSchema({ example: '5f0c7f0e-6f1c-4f7e-9a55-0d6d2b8c1a11', maxLength: 128 })
  @Field(() => String, nullable('The id of the request that made the change; null for changes by the service itself.'))
  requestId!: string | null;

  @JsonSchema({ example: 'h3k9d0s8f7a1', maxLength: 64 })
  @Field(
    () => String,
    nullable(
      'The id of the key or end user that made the change; null for anonymous callers. Shown only to callers with the scope ADMIN.',
    ),
  )
  actor!: string | null;
}

export const EventConnection = uncountedConnectionOf(Event, 'Event', 'events');

@ArgsType()
export class EventPageArgs {
  @Cursor(isPlace, NOT_A_PLACE)
  @Field(
    () => String,
    nullable(
      'Only events after this cursor. `now` is the end of the feed, and `now-20` is 20 events before the end (at most 100). By default, the page begins with the oldest event that is kept.',
    ),
  )
  after?: string | null;

  @PageSize()
  @Field(() => Int, { nullable: true, defaultValue: DEFAULT_PAGE, description: 'The number of events, {bounds}.' })
  first?: number | null;

  @Field(() => [EventTopic], nullable('Only events of these topics; by default of all topics that the caller may see.'))
  topics?: string[] | null;

  @Field(() => [EventKind], nullable('Only events of these kinds; all by default.'))
  kinds?: string[] | null;
}
