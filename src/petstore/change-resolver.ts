import { Arg, Field, InputType, Int, ObjectType, Resolver, Root } from 'type-graphql';
import type { FeedEntry } from '../database/database';
import type { ChangeEvent } from '../events/hub';
import { ChangeKind, Changes, is, isIn } from '../graphql/changes';
import { nullable, RateLimited, RequiresScope, Stability } from '../graphql/directives';
import { DateTime, Id } from '../graphql/scalars';
import { PetStatus } from './enums';
import type { InventoryRow, OrderRow, PetRow } from './model';
import { InventoryItem, Order, Pet } from './types';

const WHICH = nullable('Which changes to receive; all by default.');

/** Subscriptions to committed changes. */
@Resolver()
export class ChangeResolver {
  @Stability('EXPERIMENTAL')
  @RateLimited()
  @RequiresScope('READ')
  @Changes('pet', () => PetChange, {
    description: 'Reports pets that are created, changed or deleted, once the change is committed.',
    filterOf: petFilter,
  })
  petChanged(
    @Root() { kind, id, row, entry }: ChangeEvent<PetRow>,
    @Arg('filter', () => PetChangeFilter, WHICH) _filter?: PetChangeFilter,
  ): PetChange {
    return { kind, petId: id, pet: row, ...recordOf(entry) };
  }

  @Stability('EXPERIMENTAL')
  @RateLimited()
  @RequiresScope('READ')
  @Changes('order', () => OrderChange, {
    description: 'Reports orders that are placed, changed or cancelled, once the change is committed.',
    filterOf: orderFilter,
  })
  orderChanged(
    @Root() { kind, id, row, entry }: ChangeEvent<OrderRow>,
    @Arg('filter', () => OrderChangeFilter, WHICH) _filter?: OrderChangeFilter,
  ): OrderChange {
    return { kind, orderId: id, order: row, ...recordOf(entry) };
  }

  @Stability('EXPERIMENTAL')
  @RateLimited()
  @RequiresScope('READ')
  @Changes('inventory', () => InventoryChange, {
    description:
      'Reports each committed change of stock: stock that is set, taken by an order, returned, or no longer tracked. Changes of the pet status are reported by `petChanged` only.',
    filterOf: inventoryFilter,
  })
  inventoryChanged(
    @Root() { kind, id, row, entry }: ChangeEvent<InventoryRow>,
    @Arg('filter', () => InventoryChangeFilter, WHICH) _filter?: InventoryChangeFilter,
  ): InventoryChange {
    return { kind, petId: id, item: row, ...recordOf(entry) };
  }
}

@InputType({
  description: 'Selects changes where the pet matches every given filter, before or after the change.',
})
class PetChangeFilter {
  @Field(() => [Id], nullable('Pets with these ids.'))
  ids?: bigint[] | null;

  @Field(() => [PetStatus], nullable('Pets with any of these statuses, before or after the change.'))
  statuses?: PetStatus[] | null;

  @Field(() => [Id], nullable('Pets in any of these categories, before or after the change.'))
  categoryIds?: bigint[] | null;
}

@InputType({
  description: 'Selects changes where the order matches every given filter, before or after the change.',
})
class OrderChangeFilter {
  @Field(() => [Id], nullable('Orders with these ids.'))
  ids?: bigint[] | null;

  @Field(() => [Id], nullable('Orders for any of these pets, before or after the change.'))
  petIds?: bigint[] | null;

  @Field(() => Boolean, nullable('Orders that are fulfilled (true) or not (false), before or after the change.'))
  complete?: boolean | null;
}

@InputType({
  description: 'Selects changes where the current stock matches every given filter.',
})
class InventoryChangeFilter {
  @Field(() => [Id], nullable('Stock of these pets.'))
  petIds?: bigint[] | null;

  @Field(() => [PetStatus], nullable('Stock of pets with any of these statuses.'))
  statuses?: PetStatus[] | null;

  @Field(() => Int, nullable('Stock of at most this many units, to find low stock.'))
  maxQuantity?: number | null;
}

function petFilter(filter: PetChangeFilter) {
  return ({ id, before, row }: ChangeEvent<PetRow>): boolean =>
    isIn(filter.ids, id) &&
    [row, before].some((pet) => pet && isIn(filter.statuses, pet.status) && isIn(filter.categoryIds, pet.categoryId));
}

function orderFilter(filter: OrderChangeFilter) {
  return ({ id, before, row }: ChangeEvent<OrderRow>): boolean =>
    isIn(filter.ids, id) &&
    [row, before].some((order) => order && isIn(filter.petIds, order.petId) && is(filter.complete, order.complete));
}

function inventoryFilter(filter: InventoryChangeFilter) {
  return ({ id, row }: ChangeEvent<InventoryRow>): boolean =>
    isIn(filter.petIds, id) &&
    isIn(filter.statuses, row.status) &&
    (filter.maxQuantity == null || row.quantity <= filter.maxQuantity);
}

/**
 * The fields of a change that come from its entry in the change feed. Instances of the previous version publish changes without
 * entries.
 */
@ObjectType({ simpleResolvers: true })
abstract class Recorded {
  @Field(() => Id, nullable('The id of this change in the change feed, which `events` and `GET /events` return.'))
  eventId!: bigint | null;

  @Field(() => DateTime, nullable('When the change was made.'))
  at!: Date | null;

  @Field(() => String, nullable('The id of the request that made the change, as in its `X-Request-Id`.'))
  requestId!: string | null;
}

function recordOf(entry: FeedEntry | undefined): Recorded {
  const { id = null, at = null, requestId = null } = entry ?? {};
  return { eventId: id, at, requestId };
}

@ObjectType({ simpleResolvers: true, description: 'A change to a pet.' })
class PetChange extends Recorded {
  @Field(() => ChangeKind, { description: 'What happened to the pet.' })
  kind!: ChangeKind;

  @Field(() => Id, { description: "The pet's id." })
  petId!: bigint;

  @Field(() => Pet, { description: 'The current state of the pet, or its last state if deleted.' })
  pet!: Pet;
}

@ObjectType({ simpleResolvers: true, description: 'A change to an order.' })
class OrderChange extends Recorded {
  @Field(() => ChangeKind, { description: 'What happened to the order; `DELETED` means that it was cancelled.' })
  kind!: ChangeKind;

  @Field(() => Id, { description: "The order's id." })
  orderId!: bigint;

  @Field(() => Order, { description: 'The current state of the order, or its last state if cancelled.' })
  order!: Order;
}

@ObjectType({ simpleResolvers: true, description: "A change to a pet's stock." })
class InventoryChange extends Recorded {
  @Field(() => ChangeKind, {
    description: 'What happened to the stock; `CREATED` means that tracking started, `DELETED` that tracking ended.',
  })
  kind!: ChangeKind;

  @Field(() => Id, { description: 'The id of the pet that the stock belongs to.' })
  petId!: bigint;

  @Field(() => InventoryItem, { description: 'The current stock, or its last state if no longer tracked.' })
  item!: InventoryItem;
}
