import { Field, InputType, Int } from 'type-graphql';
import type { CategoryFilter as CategoryFilterShape } from '../../domain/category-service';
import type { InventoryFilter as InventoryFilterShape } from '../../domain/inventory-service';
import type { OrderFilter as OrderFilterShape } from '../../domain/order-service';
import type { PetFilter as PetFilterShape } from '../../domain/pet-service';
import { Stability } from '../directives';
import { PetStatus } from '../enums';
import { Id } from '../scalars';

@InputType({ description: 'Which pets to list: those that pass every filter given.' })
export class PetFilter implements PetFilterShape {
  @Field(() => [Id], { nullable: true, description: 'Those of these ids. An empty list matches nothing.' })
  ids?: bigint[] | null;

  @Field(() => [PetStatus], { nullable: true, description: 'Those of any of these statuses.' })
  status?: PetStatus[] | null;

  @Field(() => [Id], { nullable: true, description: 'Those of any of these categories.' })
  categoryId?: bigint[] | null;

  @Field(() => String, { nullable: true, description: 'Those whose name contains this, whatever its case.' })
  name?: string | null;
}

@InputType({ description: 'Which categories to list: those that pass every filter given.' })
export class CategoryFilter implements CategoryFilterShape {
  @Field(() => [Id], { nullable: true, description: 'Those of these ids. An empty list matches nothing.' })
  ids?: bigint[] | null;

  @Field(() => String, { nullable: true, description: 'Those whose name contains this, whatever its case.' })
  name?: string | null;
}

@InputType({ description: 'Which orders to list: those that pass every filter given.' })
export class OrderFilter implements OrderFilterShape {
  @Field(() => Id, { nullable: true, description: 'Those for this pet.' })
  petId?: bigint | null;

  @Field(() => Boolean, { nullable: true, description: 'Those that have, or have not, been fulfilled.' })
  complete?: boolean | null;
}

@InputType({ description: 'Which inventory entries to list: those that pass every filter given.' })
export class InventoryFilter implements InventoryFilterShape {
  @Field(() => [PetStatus], { nullable: true, description: 'Those of pets of any of these statuses.' })
  status?: PetStatus[] | null;

  @Stability('BETA')
  @Field(() => Int, { nullable: true, description: 'Those with at most this stock: what runs low.' })
  maxQuantity?: number | null;
}
