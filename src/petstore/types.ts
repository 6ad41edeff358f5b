import { Field, Int, ObjectType } from 'type-graphql';
import { Count, Quantity } from '../graphql/bounds';
import { connectionOf, PageOf } from '../graphql/connection-types';
import { WEIGHTS, Weighs } from '../graphql/cost-directives';
import { nullable } from '../graphql/directives';
import { JsonSchema } from '../graphql/json-schema';
import { Node } from '../graphql/node';
import { DateTime, Id } from '../graphql/scalars';
import { PetStatus } from './enums';
import { Description, Name, OrderPageArgs, PetPageArgs } from './inputs';

@ObjectType({ simpleResolvers: true, description: 'When an object was created and last written, and its version.' })
abstract class RowMetadata {
  @Field(
    () => DateTime,
    nullable('When the object was created; null if it was created before the gateway recorded times.'),
  )
  createdAt?: Date | null;

  @Field(
    () => DateTime,
    nullable('When the object was last written; null if it was last written before the gateway recorded times.'),
  )
  updatedAt?: Date | null;

  @Field(() => String, {
    description:
      'Changes with every write to the object. Pass it as `ifVersion` to make a change only if the object has not changed since you read it. It is opaque, and not the `ETag` of REST.',
  })
  version?: string;
}

@JsonSchema({ required: ['id', 'name', 'categoryId'] })
@ObjectType({ simpleResolvers: true, implements: Node, description: 'A pet in the store.' })
export class Pet extends RowMetadata {
  @Field(() => Id, { description: "The pet's unique identifier, assigned on creation." })
  id!: bigint;

  @JsonSchema({ example: 'Rex' })
  @Name()
  @Field(() => String, { description: "The pet's name, {bounds}." })
  name!: string;

  @Field(() => PetStatus, { description: "The pet's status." })
  status!: PetStatus;

  @Field(() => Id, { description: 'ID of the category that the pet belongs to.' })
  categoryId!: bigint;

  @Field(() => Category, { description: 'The category that the pet belongs to.' })
  category?: object;

  @Field(() => InventoryItem, nullable("The pet's stock; null if it is not tracked."))
  inventory?: object | null;

  @PageOf(
    () => OrderConnection,
    () => OrderPageArgs,
    'Orders for this pet, one page at a time.',
  )
  orders?: object;
}

@ObjectType({ simpleResolvers: true, implements: Node, description: 'A kind of pet.' })
export class Category extends RowMetadata {
  @Field(() => Id, { description: "The category's unique identifier, assigned on creation." })
  id!: bigint;

  @JsonSchema({ example: 'Dogs' })
  @Name()
  @Field(() => String, { description: 'The category name (for example a kind of pet), {bounds}.' })
  name!: string;

  @Weighs(WEIGHTS.text)
  @JsonSchema({ example: 'Loyal, and always hungry' })
  @Description()
  @Field(() => String, nullable('A short description of the category, {bounds}.'))
  description!: string | null;

  @PageOf(
    () => PetConnection,
    () => PetPageArgs,
    'The pets in this category, one page at a time.',
  )
  pets?: object;
}

@JsonSchema({ required: [] })
@ObjectType({ simpleResolvers: true, implements: Node, description: 'An order for a pet.' })
export class Order extends RowMetadata {
  @Field(() => Id, { description: "The order's unique identifier, assigned when the order is placed." })
  id!: bigint;

  @Field(() => Id, nullable('ID of the pet in the order.'))
  petId!: bigint | null;

  @JsonSchema({ example: 2 })
  @Quantity()
  @Field(() => Int, nullable('Number of units ordered, {bounds}.'))
  quantity!: number | null;

  @Field(() => DateTime, nullable('Expected or actual ship date, in UTC with milliseconds.'))
  shipDate!: Date | null;

  @Field(() => Boolean, { description: 'Whether the order has been fulfilled.' })
  complete!: boolean;

  @Field(
    () => String,
    nullable('The end user to whom the order belongs: `user:…`; null for orders of keys and anonymous callers.'),
  )
  owner!: string | null;

  @Field(() => Pet, nullable('The pet in the order.'))
  pet?: object | null;
}

@ObjectType({
  simpleResolvers: true,
  implements: Node,
  description:
    'The inventory entry of one pet. It exists once the stock has been set. Until then, orders for the pet are not limited.',
})
export class InventoryItem extends RowMetadata {
  @Field(() => Id, { description: 'ID of the pet that the entry tracks.' })
  petId!: bigint;

  @JsonSchema({ example: 5 })
  @Count()
  @Field(() => Int, { description: 'Current stock count, without the units taken by placed orders.' })
  quantity!: number;

  @Field(() => PetStatus, { description: "The pet's status." })
  status!: PetStatus;

  @Field(() => Pet, { description: 'The pet that the entry tracks.' })
  pet?: object;
}

export const PetConnection = connectionOf(Pet, 'Pet', 'pets');
export const CategoryConnection = connectionOf(Category, 'Category', 'categories');
export const OrderConnection = connectionOf(Order, 'Order', 'orders');
export const InventoryItemConnection = connectionOf(InventoryItem, 'InventoryItem', 'inventory entries');
