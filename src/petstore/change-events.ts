import { Field, ObjectType } from 'type-graphql';
import { Id } from '../graphql/scalars';
import { ChangeKind } from './enum-types';
import { InventoryItem } from './inventory-item';
import { Order } from './order';
import { Pet } from './pet';

type Kind = keyof typeof ChangeKind;

@ObjectType({ simpleResolvers: true, description: 'A change to a pet.' })
export class PetChange {
  @Field(() => ChangeKind, { description: 'What happened to it.' })
  kind!: Kind;

  @Field(() => Id, { description: "The pet's id." })
  petId!: bigint;

  @Field(() => Pet, { description: 'The current state of the pet, or its last state if deleted.' })
  pet!: Pet;
}

@ObjectType({ simpleResolvers: true, description: 'A change to an order.' })
export class OrderChange {
  @Field(() => ChangeKind, { description: 'What happened to it; `DELETED` means it was cancelled.' })
  kind!: Kind;

  @Field(() => Id, { description: "The order's id." })
  orderId!: bigint;

  @Field(() => Order, { description: 'The current state of the order, or its last state if cancelled.' })
  order!: Order;
}

@ObjectType({ simpleResolvers: true, description: "A change to a pet's stock." })
export class InventoryChange {
  @Field(() => ChangeKind, {
    description: 'What happened to it; `CREATED` means that tracking started, `DELETED` that it ended.',
  })
  kind!: Kind;

  @Field(() => Id, { description: 'The id of the pet whose stock it is.' })
  petId!: bigint;

  @Field(() => InventoryItem, { description: 'The current stock, or its last state if no longer tracked.' })
  item!: InventoryItem;
}
