import { Extensions, Subscription } from 'type-graphql';
import type { Table } from '../database/reading/table';
import { isVisible, type Visibility } from '../database/visibility';
import type { ChangeEvent, EventFilter } from '../events/hub';
import { visibilityOf } from './caller';
import type { Context } from './context';
import { enumOf } from './enums';

export const ChangeKind = enumOf('ChangeKind', 'The kind of a change.', {
  CREATED: 'Created.',
  UPDATED: 'Written, possibly with the same values.',
  DELETED: 'Deleted.',
});
export type ChangeKind = keyof typeof ChangeKind;

/**
 * Declares a subscription to the changes of a topic. The decorated method converts each `ChangeEvent` to `type`.
 * @param filterOf converts the client's `filter` argument to a predicate for events. If the client sends no filter,
 * `filterOf` receives `{}`.
 */
export function Changes<Row extends object, Filter extends object>(
  topic: string,
  type: () => abstract new () => object,
  {
    description,
    filterOf,
  }: { description: string; filterOf: (filter: Filter) => (event: ChangeEvent<Row>) => boolean },
): MethodDecorator {
  // type-graphql calls `pubSub.subscribe(topic, topicId)`, which is in `schema.ts`. The topic id says which events the
  // subscriber gets.
  const topicId = ({ args, context }: { args: { filter?: Filter | null }; context: Context }): EventAudience => {
    const filter = filterOf(args.filter ?? ({} as Filter)) as EventFilter;
    return { filter, visibility: visibilityOf(context.operationRequest.caller) };
  };
  return (prototype, method, descriptor) => {
    Subscription(type, { topics: topic, topicId, description })(prototype, method, descriptor);
    Extensions({ topic })(prototype, method, descriptor);
  };
}

/** Which events of a topic a subscriber gets. */
export interface EventAudience {
  readonly filter: EventFilter;
  readonly visibility: Visibility;
}

/** A filter that passes only events whose row the subscriber sees. @param table the table of the topic's rows. */
export function visibleEvents(table: Table<object>, { filter, visibility }: EventAudience): EventFilter {
  if (!table.owner) return filter;
  return (event) => isVisible(table, event.row, visibility) && filter(event);
}

/** Whether a value equals the wanted value. An omitted filter matches every value. */
export function is<T>(wanted: T | null | undefined, value: T | null | undefined): boolean {
  return wanted == null || wanted === value;
}

/** Whether a value is among the wanted values. An omitted filter matches every value. */
export function isIn<T>(wanted: readonly T[] | null | undefined, value: T | null | undefined): boolean {
  return wanted == null || (value != null && wanted.includes(value));
}
