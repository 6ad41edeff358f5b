import { Extensions, Subscription } from 'type-graphql';
import type { ChangeEvent } from '../events/hub';
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
  // type-graphql calls `pubSub.subscribe(topic, topicId)`. Here the topic id is the predicate that selects events.
  const topicId = ({ args }: { args: { filter?: Filter | null } }) => filterOf(args.filter ?? ({} as Filter));
  return (prototype, method, descriptor) => {
    Subscription(type, { topics: topic, topicId, description })(prototype, method, descriptor);
    Extensions({ topic })(prototype, method, descriptor);
  };
}

/** Whether a value equals the wanted value. An omitted filter matches every value. */
export function is<T>(wanted: T | null | undefined, value: T | null | undefined): boolean {
  return wanted == null || wanted === value;
}

/** Whether a value is among the wanted values. An omitted filter matches every value. */
export function isIn<T>(wanted: readonly T[] | null | undefined, value: T | null | undefined): boolean {
  return wanted == null || (value != null && wanted.includes(value));
}
