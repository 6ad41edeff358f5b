import { Field, InputType, Int } from 'type-graphql';
import type { ChangeEvent } from '../events/hub';
import { nullable } from '../graphql/nullable';
import { Id } from '../graphql/scalars';
import { PetStatus } from './enum-types';

@InputType({
  description:
    'Which pet changes to receive: those where the pet matches every given filter, before or after the change.',
})
export class PetChangeFilter {
  @Field(() => [Id], nullable('Pets with these ids.'))
  ids?: bigint[] | null;

  @Field(() => [PetStatus], nullable('Pets with any of these statuses, before or after the change.'))
  statuses?: PetStatus[] | null;

  @Field(() => [Id], nullable('Pets in any of these categories, before or after the change.'))
  categoryIds?: bigint[] | null;
}

@InputType({
  description:
    'Which order changes to receive: those where the order matches every given filter, before or after the change.',
})
export class OrderChangeFilter {
  @Field(() => [Id], nullable('Orders with these ids.'))
  ids?: bigint[] | null;

  @Field(() => [Id], nullable('Orders for any of these pets, before or after the change.'))
  petIds?: bigint[] | null;

  @Field(() => Boolean, nullable('Orders that are fulfilled (true) or not (false), before or after the change.'))
  complete?: boolean | null;
}

@InputType({ description: 'Which stock changes to receive: those whose current stock matches every given filter.' })
export class InventoryChangeFilter {
  @Field(() => [Id], nullable('Stock of these pets.'))
  petIds?: bigint[] | null;

  @Field(() => [PetStatus], nullable('Stock of pets with any of these statuses.'))
  statuses?: PetStatus[] | null;

  @Field(() => Int, nullable('Stock of at most this many units: what is running low.'))
  maxQuantity?: number | null;
}

export function passesPets(filter: PetChangeFilter) {
  return ({ id, before, row }: ChangeEvent<'pet'>): boolean =>
    isIn(filter.ids, id) &&
    [row, before].some((pet) => pet && isIn(filter.statuses, pet.status) && isIn(filter.categoryIds, pet.categoryId));
}

export function passesOrders(filter: OrderChangeFilter) {
  return ({ id, before, row }: ChangeEvent<'order'>): boolean =>
    isIn(filter.ids, id) &&
    [row, before].some((order) => order && isIn(filter.petIds, order.petId) && is(filter.complete, order.complete));
}

export function passesInventory(filter: InventoryChangeFilter) {
  return ({ id, row }: ChangeEvent<'inventory'>): boolean =>
    isIn(filter.petIds, id) &&
    isIn(filter.statuses, row.status) &&
    (filter.maxQuantity == null || row.quantity <= filter.maxQuantity);
}

function is<T>(wanted: T | null | undefined, value: T | null | undefined): boolean {
  return wanted == null || wanted === value;
}

function isIn<T>(wanted: readonly T[] | null | undefined, value: T | null | undefined): boolean {
  return wanted == null || (value != null && wanted.includes(value));
}
