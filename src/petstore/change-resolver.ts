import { Arg, Resolver, Root, Subscription } from 'type-graphql';
import type { Topic } from '../database/changes';
import type { ChangeEvent } from '../events/hub';
import { Counted, Requires, Stability } from '../graphql/directives';
import { nullable } from '../graphql/nullable';
import { refuseOtherIds } from '../graphql/scalars';
import { InventoryChange, OrderChange, PetChange } from './change-events';
import {
  InventoryChangeFilter,
  OrderChangeFilter,
  PetChangeFilter,
  passesInventory,
  passesOrders,
  passesPets,
} from './change-filters';

/** Whether an event passes a subscriber's filter. */
export type Passes = (event: ChangeEvent) => boolean;

/** What type-graphql passes to its `pubSub`: the topic, and as the topic id the predicate for its events. */
function listen<T extends Topic, Filter extends object>(
  topic: T,
  passes: (filter: Filter) => (event: ChangeEvent<T>) => boolean,
) {
  return {
    topics: topic,
    topicId: ({ args }: { args: { filter?: Filter | null } }) => {
      refuseOtherIds(args);
      return passes(args.filter ?? ({} as Filter));
    },
  };
}

const WHICH = nullable('Which changes to receive; all by default.');

/** Subscriptions to changes, as they are committed. */
@Resolver()
export class ChangeResolver {
  @Stability('EXPERIMENTAL')
  @Counted()
  @Requires('READ')
  @Subscription(() => PetChange, {
    ...listen('pet', passesPets),
    description: 'Reports pets that are created, changed or deleted, once the change is committed.',
  })
  petChanged(
    @Root() { kind, id, row }: ChangeEvent<'pet'>,
    @Arg('filter', () => PetChangeFilter, WHICH) _filter?: PetChangeFilter,
  ): PetChange {
    return { kind, petId: id, pet: row };
  }

  @Stability('EXPERIMENTAL')
  @Counted()
  @Requires('READ')
  @Subscription(() => OrderChange, {
    ...listen('order', passesOrders),
    description: 'Reports orders that are placed, changed or cancelled, once the change is committed.',
  })
  orderChanged(
    @Root() { kind, id, row }: ChangeEvent<'order'>,
    @Arg('filter', () => OrderChangeFilter, WHICH) _filter?: OrderChangeFilter,
  ): OrderChange {
    return { kind, orderId: id, order: row };
  }

  @Stability('EXPERIMENTAL')
  @Counted()
  @Requires('READ')
  @Subscription(() => InventoryChange, {
    ...listen('inventory', passesInventory),
    description:
      'Reports stock that is set, taken by orders, returned or no longer tracked, once the change is committed. A new status of the pet is a change to the pet only.',
  })
  inventoryChanged(
    @Root() { kind, id, row }: ChangeEvent<'inventory'>,
    @Arg('filter', () => InventoryChangeFilter, WHICH) _filter?: InventoryChangeFilter,
  ): InventoryChange {
    return { kind, petId: id, item: row };
  }
}
