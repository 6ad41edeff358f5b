import { Field, InputType, Int } from 'type-graphql';
import type {
  CategoryUpdate as CategoryUpdateShape,
  NewCategory as NewCategoryShape,
} from '../../domain/category-service';
import type { OrderInput } from '../../domain/order-service';
import type { NewPet as NewPetShape, PetUpdate as PetUpdateShape } from '../../domain/pet-service';
import { PetStatus } from '../enums';
import { DateTime, Id } from '../scalars';

@InputType({ description: 'The creation payload of a pet.' })
export class NewPet implements NewPetShape {
  @Field(() => String, { description: "The animal's name, 1 to 255 characters once trimmed." })
  name!: string;

  @Field(() => Id, { description: 'The category that the animal belongs to.' })
  categoryId!: bigint;

  @Field(() => PetStatus, { nullable: true, description: 'The status of the pet; `available` unless given.' })
  status?: PetStatus | null;
}

@InputType({ description: 'A change of a pet: what is absent stays as it is.' })
export class PetUpdate implements PetUpdateShape {
  @Field(() => String, { nullable: true, description: 'The new name; not null.' })
  name?: string | null;

  @Field(() => Id, { nullable: true, description: 'The new category; not null.' })
  categoryId?: bigint | null;

  @Field(() => PetStatus, { nullable: true, description: 'The new status; not null.' })
  status?: PetStatus | null;
}

@InputType({ description: 'The creation payload of a category.' })
export class NewCategory implements NewCategoryShape {
  @Field(() => String, { description: 'The category name, 1 to 255 characters once trimmed.' })
  name!: string;

  @Field(() => String, { nullable: true, description: 'A short description, up to 2000 characters.' })
  description?: string | null;
}

@InputType({ description: 'A change of a category: what is absent stays as it is.' })
export class CategoryUpdate implements CategoryUpdateShape {
  @Field(() => String, { nullable: true, description: 'The new name; not null.' })
  name?: string | null;

  @Field(() => String, { nullable: true, description: 'The new description; null removes it.' })
  description?: string | null;
}

@InputType({ description: 'An order to place. No field is required.' })
export class NewOrder implements OrderInput {
  @Field(() => Id, { nullable: true, description: 'The animal in the order.' })
  petId?: bigint | null;

  @Field(() => Int, { nullable: true, description: 'Number of units ordered, at least 1.' })
  quantity?: number | null;

  @Field(() => DateTime, { nullable: true, description: 'Expected or actual ship date.' })
  shipDate?: Date | null;

  @Field(() => Boolean, {
    nullable: true,
    description: 'Whether the order has been fulfilled; false unless given.',
  })
  complete?: boolean | null;
}

@InputType({ description: 'A change of an order: what is absent stays as it is.' })
export class OrderUpdate implements OrderInput {
  @Field(() => Id, {
    nullable: true,
    description: 'The new animal; null removes it. Reserved stock moves with it.',
  })
  petId?: bigint | null;

  @Field(() => Int, {
    nullable: true,
    description: 'The new number of units; null removes it. Reserved stock follows.',
  })
  quantity?: number | null;

  @Field(() => DateTime, { nullable: true, description: 'The new ship date; null removes it.' })
  shipDate?: Date | null;

  @Field(() => Boolean, { nullable: true, description: 'True ships the order; not null.' })
  complete?: boolean | null;
}

@InputType({ description: "A change of a pet's stock." })
export class InventoryUpdate {
  @Field(() => Int, { description: 'The new stock count, 0 to 2147483647.' })
  quantity!: number;
}
