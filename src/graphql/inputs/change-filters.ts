import { Field, InputType, Int } from 'type-graphql';
import type { ChangeEvent } from '../../events/hub';
import { PetStatus } from '../enums';
import { Id } from '../scalars';

@InputType({
  description: 'Which changes of pets to hear of: those of pets that pass every filter given, now or before.',
})
export class PetChangeFilter {
  @Field(() => [Id], { nullable: true, description: 'Those of these ids.' })
  ids?: bigint[] | null;

  @Field(() => [PetStatus], {
    nullable: true,
    description: 'Those of any of these statuses; also those that had one until now.',
  })
  status?: PetStatus[] | null;

  @Field(() => [Id], {
    nullable: true,
    description: 'Those of any of these categories; also those that belonged to one until now.',
  })
  categoryId?: bigint[] | null;
}

@InputType({
  description:
    'Which changes of orders to hear of: those of orders that pass every filter given, now or before.',
})
export class OrderChangeFilter {
  @Field(() => [Id], { nullable: true, description: 'Those of these ids.' })
  ids?: bigint[] | null;

  @Field(() => Id, { nullable: true, description: 'Those for this pet; also those that were until now.' })
  petId?: bigint | null;

  @Field(() => Boolean, {
    nullable: true,
    description: 'Those that have, or have not, been fulfilled; also those that had, or had not, until now.',
  })
  complete?: boolean | null;
}

@InputType({ description: 'Which changes of stock to hear of: those that pass every filter given.' })
export class InventoryChangeFilter {
  @Field(() => [Id], { nullable: true, description: 'Those of these pets.' })
  petIds?: bigint[] | null;

  @Field(() => [PetStatus], { nullable: true, description: 'Those of pets of any of these statuses.' })
  status?: PetStatus[] | null;

  @Field(() => Int, { nullable: true, description: 'Those with at most this stock: what runs low.' })
  maxQuantity?: number | null;
}

export function passesPets(filter: PetChangeFilter) {
  return ({ id, before, row }: ChangeEvent<'pet'>): boolean =>
    isIn(filter.ids, id) &&
    [row, before].some(
      (pet) => pet && isIn(filter.status, pet.status) && isIn(filter.categoryId, pet.categoryId),
    );
}

export function passesOrders(filter: OrderChangeFilter) {
  return ({ id, before, row }: ChangeEvent<'order'>): boolean =>
    isIn(filter.ids, id) &&
    [row, before].some(
      (order) => order && is(filter.petId, order.petId) && is(filter.complete, order.complete),
    );
}

export function passesInventory(filter: InventoryChangeFilter) {
  return ({ id, row }: ChangeEvent<'inventory'>): boolean =>
    isIn(filter.petIds, id) &&
    isIn(filter.status, row.status) &&
    (filter.maxQuantity == null || row.quantity <= filter.maxQuantity);
}

function is<T>(wanted: T | null | undefined, value: T | null | undefined): boolean {
  return wanted == null || wanted === value;
}

function isIn<T>(wanted: readonly T[] | null | undefined, value: T | undefined): boolean {
  return wanted == null || (value !== undefined && wanted.includes(value));
}
