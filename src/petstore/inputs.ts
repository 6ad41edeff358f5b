import { ArgsType, Field, InputType, Int } from 'type-graphql';
import { MAX_FILTER_VALUES } from '../errors/input-checks';
import { Count, NotNull, NotZero, Quantity, SearchText, Text } from '../graphql/bounds';
import { WEIGHTS, Weighs } from '../graphql/cost-directives';
import { nullable, Stability } from '../graphql/directives';
import { JsonSchema } from '../graphql/json-schema';
import { orderByOf, pageArgsOf } from '../graphql/page-args';
import { DateTime, Id } from '../graphql/scalars';
import { CategorySortField, InventorySortField, OrderSortField, PetSortField, PetStatus } from './enums';

const LISTS = `All lists of a filter together may have at most ${MAX_FILTER_VALUES} values.`;

/** Bounds the length of the name of a pet or a category. */
export const Name = () => Text(1, 255);
/** Bounds the length of the description of a category. */
export const Description = () => Text(0, 2000);

@InputType({ description: 'A pet to create.' })
export class NewPet {
  @Name()
  @Field(() => String, { description: "The pet's name, {bounds} after trimming." })
  name!: string;

  @Field(() => Id, { description: 'ID of the category that the pet belongs to.' })
  categoryId!: bigint;

  @NotNull()
  @Field(() => PetStatus, nullable("The pet's status; `available` by default, and cannot be null."))
  status?: PetStatus;
}

@JsonSchema({ example: { status: 'sold' } })
@InputType({ description: 'Changes to a pet. Omitted fields keep their values.' })
export class PetUpdate {
  @NotNull()
  @Name()
  @Field(() => String, nullable('The new name; cannot be null.'))
  name?: string;

  @NotNull()
  @Field(() => Id, nullable('The id of the new category; cannot be null.'))
  categoryId?: bigint;

  @NotNull()
  @Field(() => PetStatus, nullable('The new status; cannot be null.'))
  status?: PetStatus;
}

@InputType({ description: 'A category to create.' })
export class NewCategory {
  @Name()
  @Field(() => String, {
    description: 'The category name (for example a kind of pet), {bounds} after trimming.',
  })
  name!: string;

  @Description()
  @Field(() => String, nullable('A short description of the category, {bounds}.'))
  description?: string | null;
}

@JsonSchema({ example: { description: null } })
@InputType({ description: 'Changes to a category. Omitted fields keep their values.' })
export class CategoryUpdate {
  @NotNull()
  @Name()
  @Field(() => String, nullable('The new name; cannot be null.'))
  name?: string;

  @Description()
  @Field(() => String, nullable('The new description; null removes it.'))
  description?: string | null;
}

@InputType({
  description:
    'An order to place. All fields are optional. Omit a field instead of sending null; null is rejected. The order takes stock if it has a pet and a quantity.',
})
export class NewOrder {
  @NotNull()
  @Field(() => Id, nullable('ID of the pet in the order; cannot be null.'))
  petId?: bigint;

  @NotNull()
  @Quantity()
  @Field(() => Int, nullable('Number of units ordered, {bounds}; cannot be null.'))
  quantity?: number;

  @NotNull()
  @Field(() => DateTime, nullable('Expected or actual ship date; cannot be null. Returned in UTC with milliseconds.'))
  shipDate?: Date;

  @NotNull()
  @Field(() => Boolean, nullable('Whether the order has been fulfilled; false by default, and cannot be null.'))
  complete?: boolean;
}

@JsonSchema({ example: { complete: true } })
@InputType({ description: 'Changes to an order. Omitted fields keep their values.' })
export class OrderUpdate {
  @Field(
    () => Id,
    nullable(
      'The id of the pet to order instead. The reservation moves to this pet. Null leaves the order without a pet.',
    ),
  )
  petId?: bigint | null;

  @Quantity()
  @Field(
    () => Int,
    nullable('The new number of units. Reserved stock is adjusted. Null leaves the order without a quantity.'),
  )
  quantity?: number | null;

  @Field(() => DateTime, nullable('The new ship date; null removes it.'))
  shipDate?: Date | null;

  @NotNull()
  @Field(() => Boolean, nullable('Whether the order has been fulfilled; cannot be null.'))
  complete?: boolean;
}

@InputType({ description: "A change to a pet's stock." })
export class InventoryUpdate {
  @Count()
  @Field(() => Int, { description: 'The new stock count, {bounds}.' })
  quantity!: number;
}

@ArgsType()
export class AdjustmentArgs {
  @NotZero()
  @Field(() => Int, {
    description: 'The number of units to add; negative to take units. It must not be 0.',
  })
  by!: number;
}

@InputType({
  description: `Lists only pets that match every given filter. ${LISTS}`,
})
export class PetFilter {
  @Field(() => [Id], nullable('Pets with these ids.\n\nAn empty list matches nothing.'))
  ids?: bigint[] | null;

  @Field(() => [PetStatus], nullable('Pets with any of these statuses.'))
  statuses?: PetStatus[] | null;

  @Field(() => [Id], nullable('Pets in any of these categories.'))
  categoryIds?: bigint[] | null;

  @SearchText()
  @Weighs(WEIGHTS.search)
  @Field(
    () => String,
    nullable(
      'Pets whose name contains this text, ignoring case. A text of one or two characters must be at the start of the name.',
    ),
  )
  name?: string | null;
}

@InputType({
  description: `Lists only categories that match every given filter. ${LISTS}`,
})
export class CategoryFilter {
  @Field(() => [Id], nullable('Categories with these ids.\n\nAn empty list matches nothing.'))
  ids?: bigint[] | null;

  @SearchText()
  @Weighs(WEIGHTS.search)
  @Field(
    () => String,
    nullable(
      'Categories whose name contains this text, ignoring case. A text of one or two characters must be at the start of the name.',
    ),
  )
  name?: string | null;
}

@InputType({
  description: `Lists only orders that match every given filter. ${LISTS}`,
})
export class OrderFilter {
  @Field(() => [Id], nullable('Orders with these ids.\n\nAn empty list matches nothing.'))
  ids?: bigint[] | null;

  @Field(() => [Id], nullable('Orders for any of these pets.'))
  petIds?: bigint[] | null;

  @Field(() => Boolean, nullable('Orders that are fulfilled (true) or not (false).'))
  complete?: boolean | null;
}

@InputType({
  description: `Lists only inventory entries that match every given filter. ${LISTS}`,
})
export class InventoryFilter {
  @Field(() => [Id], nullable('Entries of these pets.\n\nAn empty list matches nothing.'))
  petIds?: bigint[] | null;

  @Field(() => [PetStatus], nullable('Entries of pets with any of these statuses.'))
  statuses?: PetStatus[] | null;

  @Stability('BETA')
  @Field(() => Int, nullable('Entries with at most this many units, to find low stock.'))
  maxQuantity?: number | null;

  @Field(() => Int, nullable('Entries with at least this many units.'))
  minQuantity?: number | null;
}

const PetSort = orderByOf('PetSort', 'pets', PetSortField, 'ID');
const CategorySort = orderByOf('CategorySort', 'categories', CategorySortField, 'ID');
const OrderSort = orderByOf('OrderSort', 'orders', OrderSortField, 'ID');
const InventorySort = orderByOf('InventorySort', 'inventory entries', InventorySortField, 'PET_ID');

export const PetPageArgs = pageArgsOf(PetFilter, PetSort, 'pets');
export type PetPageArgs = InstanceType<typeof PetPageArgs>;
export const CategoryPageArgs = pageArgsOf(CategoryFilter, CategorySort, 'categories');
export type CategoryPageArgs = InstanceType<typeof CategoryPageArgs>;
export const OrderPageArgs = pageArgsOf(OrderFilter, OrderSort, 'orders');
export type OrderPageArgs = InstanceType<typeof OrderPageArgs>;
export const InventoryPageArgs = pageArgsOf(InventoryFilter, InventorySort, 'inventory entries', 'by pet id');
export type InventoryPageArgs = InstanceType<typeof InventoryPageArgs>;
