import { Arg, Resolver, Root, Subscription } from 'type-graphql';
import type { Topic } from '../../database/changes';
import type { ChangeEvent } from '../../events/hub';
import { Counted, Requires, Stability } from '../directives';
import {
  InventoryChangeFilter,
  OrderChangeFilter,
  PetChangeFilter,
  passesInventory,
  passesOrders,
  passesPets,
} from '../inputs/change-filters';
import { refuseKeyIds } from '../scalars';
import { InventoryChange, OrderChange, PetChange } from '../types/changes';

/** Whether a subscriber wants to hear of an event. */
export type Passes = (event: ChangeEvent) => boolean;

/** What to listen to, as type-graphql hands it to its `pubSub`: the topic, and as its id which events of it pass. */
function listen<T extends Topic, Filter extends object>(
  topic: T,
  passes: (filter: Filter) => (event: ChangeEvent<T>) => boolean,
) {
  return {
    topics: topic,
    topicId: ({ args }: { args: { filter?: Filter | null } }) => {
      refuseKeyIds(args);
      return passes(args.filter ?? ({} as Filter));
    },
  };
}

const WHICH = { nullable: true, description: 'Only those that pass it; without it all.' } as const;

/** What has changed, as it happens. */
@Resolver()
export class ChangeResolver {
  @Stability('EXPERIMENTAL')
  @Counted()
  @Requires('READ')
  @Subscription(() => PetChange, {
    ...listen('pet', passesPets),
    description: 'Pets that are created, changed or deleted, once that is committed.',
  })
  petChanged(
    @Root() { kind, id, row }: ChangeEvent<'pet'>,
    @Arg('filter', () => PetChangeFilter, WHICH) _filter?: PetChangeFilter,
  ): PetChange {
    return { kind, id, pet: row };
  }

  @Stability('EXPERIMENTAL')
  @Counted()
  @Requires('READ')
  @Subscription(() => OrderChange, {
    ...listen('order', passesOrders),
    description: 'Orders that are placed, changed or cancelled, once that is committed.',
  })
  orderChanged(
    @Root() { kind, id, row }: ChangeEvent<'order'>,
    @Arg('filter', () => OrderChangeFilter, WHICH) _filter?: OrderChangeFilter,
  ): OrderChange {
    return { kind, id, order: row };
  }

  @Stability('EXPERIMENTAL')
  @Counted()
  @Requires('READ')
  @Subscription(() => InventoryChange, {
    ...listen('inventory', passesInventory),
    description:
      'Stock that is set, taken by orders, given back or no longer tracked, once that is committed. A new status of the pet alone is a change of the pet.',
  })
  inventoryChanged(
    @Root() { kind, id, row }: ChangeEvent<'inventory'>,
    @Arg('filter', () => InventoryChangeFilter, WHICH) _filter?: InventoryChangeFilter,
  ): InventoryChange {
    return { kind, petId: id, item: row };
  }
}
