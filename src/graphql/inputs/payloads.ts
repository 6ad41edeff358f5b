import { Field, InputType, Int } from 'type-graphql';
import {
  CATEGORY_UPDATE,
  type CategoryUpdate as CategoryUpdateShape,
  NEW_CATEGORY,
  type NewCategory as NewCategoryShape,
} from '../../domain/category-service';
import {
  INVENTORY_UPDATE,
  type InventoryUpdate as InventoryUpdateShape,
} from '../../domain/inventory-service';
import { NEW_ORDER, ORDER_UPDATE, type OrderInput } from '../../domain/order-service';
import {
  NEW_PET,
  type NewPet as NewPetShape,
  PET_UPDATE,
  type PetUpdate as PetUpdateShape,
} from '../../domain/pet-service';
import { DESCRIPTION, NAME, STOCK } from '../../domain/rules';
import { PetStatus } from '../contract/enum-types';
import { JsonSchema, Rules } from '../contract/json-schema';
import { DateTime, Id } from '../contract/scalars';

@Rules(NEW_PET)
@InputType({ description: 'A pet to create.' })
export class NewPet implements NewPetShape {
  @Field(() => String, {
    description: `The animal's name, 1 to ${NAME.maxLength} characters after trimming.`,
  })
  name!: string;

  @Field(() => Id, { description: 'ID of the category the animal belongs to.' })
  categoryId!: bigint;

  @Field(() => PetStatus, { nullable: true, description: 'Status of the pet; `available` by default.' })
  status?: PetStatus | null;
}

@Rules(PET_UPDATE)
@JsonSchema({ example: { status: 'sold' } })
@InputType({ description: 'Changes to a pet. Omitted fields keep their values.' })
export class PetUpdate implements PetUpdateShape {
  @Field(() => String, { nullable: true, description: 'The new name; cannot be null.' })
  name?: string | null;

  @Field(() => Id, { nullable: true, description: 'The id of the new category; cannot be null.' })
  categoryId?: bigint | null;

  @Field(() => PetStatus, { nullable: true, description: 'The new status; cannot be null.' })
  status?: PetStatus | null;
}

@Rules(NEW_CATEGORY)
@InputType({ description: 'A category to create.' })
export class NewCategory implements NewCategoryShape {
  @Field(() => String, {
    description: `The category name (for example a kind of animal), 1 to ${NAME.maxLength} characters after trimming.`,
  })
  name!: string;

  @Field(() => String, {
    nullable: true,
    description: `A short description of the category, up to ${DESCRIPTION.maxLength} characters.`,
  })
  description?: string | null;
}

@Rules(CATEGORY_UPDATE)
@JsonSchema({ example: { description: null } })
@InputType({ description: 'Changes to a category. Omitted fields keep their values.' })
export class CategoryUpdate implements CategoryUpdateShape {
  @Field(() => String, { nullable: true, description: 'The new name; cannot be null.' })
  name?: string | null;

  @Field(() => String, { nullable: true, description: 'The new description; null removes it.' })
  description?: string | null;
}

@Rules(NEW_ORDER)
@InputType({
  description: 'An order to place. All fields are optional; it takes stock if it has a pet and a quantity.',
})
export class NewOrder implements OrderInput {
  @Field(() => Id, { nullable: true, description: 'ID of the animal in the order.' })
  petId?: bigint | null;

  @Field(() => Int, { nullable: true, description: 'Number of units ordered, at least 1.' })
  quantity?: number | null;

  @Field(() => DateTime, {
    nullable: true,
    description: 'Expected or actual ship date; returned in UTC with milliseconds.',
  })
  shipDate?: Date | null;

  @Field(() => Boolean, {
    nullable: true,
    description: 'Whether the order has been fulfilled; false by default.',
  })
  complete?: boolean | null;
}

@Rules(ORDER_UPDATE)
@JsonSchema({ example: { complete: true } })
@InputType({ description: 'Changes to an order. Omitted fields keep their values.' })
export class OrderUpdate implements OrderInput {
  @Field(() => Id, {
    nullable: true,
    description: 'The id of the new animal; null removes it. Reserved stock moves with it.',
  })
  petId?: bigint | null;

  @Field(() => Int, {
    nullable: true,
    description: 'The new number of units; null removes it. Reserved stock is adjusted.',
  })
  quantity?: number | null;

  @Field(() => DateTime, { nullable: true, description: 'The new ship date; null removes it.' })
  shipDate?: Date | null;

  @Field(() => Boolean, {
    nullable: true,
    description: 'Whether the order has been fulfilled; cannot be null.',
  })
  complete?: boolean | null;
}

@Rules(INVENTORY_UPDATE)
@InputType({ description: "A change to a pet's stock." })
export class InventoryUpdate implements InventoryUpdateShape {
  @Field(() => Int, { description: `The new stock count, ${STOCK.minimum} to ${STOCK.maximum}.` })
  quantity!: number;
}
