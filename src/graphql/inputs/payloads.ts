import { Field, InputType, Int } from 'type-graphql';
import type {
  CategoryUpdate as CategoryUpdateShape,
  NewCategory as NewCategoryShape,
} from '../../domain/category-service';
import type { OrderInput } from '../../domain/order-service';
import type { NewPet as NewPetShape, PetUpdate as PetUpdateShape } from '../../domain/pet-service';
import { PetStatus } from '../contract/enum-types';
import { DateTime, Id } from '../contract/scalars';

@InputType({ description: 'A pet to create.' })
export class NewPet implements NewPetShape {
  @Field(() => String, { description: "The animal's name, 1 to 255 characters after trimming." })
  name!: string;

  @Field(() => Id, { description: 'The id of the category that the animal belongs to.' })
  categoryId!: bigint;

  @Field(() => PetStatus, { nullable: true, description: 'The status of the pet; `available` by default.' })
  status?: PetStatus | null;
}

@InputType({ description: 'Changes to a pet. Omitted fields keep their values.' })
export class PetUpdate implements PetUpdateShape {
  @Field(() => String, { nullable: true, description: 'The new name; cannot be null.' })
  name?: string | null;

  @Field(() => Id, { nullable: true, description: 'The id of the new category; cannot be null.' })
  categoryId?: bigint | null;

  @Field(() => PetStatus, { nullable: true, description: 'The new status; cannot be null.' })
  status?: PetStatus | null;
}

@InputType({ description: 'A category to create.' })
export class NewCategory implements NewCategoryShape {
  @Field(() => String, { description: 'The category name, 1 to 255 characters after trimming.' })
  name!: string;

  @Field(() => String, { nullable: true, description: 'A short description, up to 2000 characters.' })
  description?: string | null;
}

@InputType({ description: 'Changes to a category. Omitted fields keep their values.' })
export class CategoryUpdate implements CategoryUpdateShape {
  @Field(() => String, { nullable: true, description: 'The new name; cannot be null.' })
  name?: string | null;

  @Field(() => String, { nullable: true, description: 'The new description; null removes it.' })
  description?: string | null;
}

@InputType({ description: 'An order to place. All fields are optional.' })
export class NewOrder implements OrderInput {
  @Field(() => Id, { nullable: true, description: 'The id of the animal in the order.' })
  petId?: bigint | null;

  @Field(() => Int, { nullable: true, description: 'Number of units ordered, at least 1.' })
  quantity?: number | null;

  @Field(() => DateTime, { nullable: true, description: 'Expected or actual ship date.' })
  shipDate?: Date | null;

  @Field(() => Boolean, {
    nullable: true,
    description: 'Whether the order has been fulfilled; false by default.',
  })
  complete?: boolean | null;
}

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

@InputType({ description: "A change to a pet's stock." })
export class InventoryUpdate {
  @Field(() => Int, { description: 'The new stock count, 0 to 2147483647.' })
  quantity!: number;
}
