import { Field, ObjectType } from 'type-graphql';
import { ChangeKind } from '../enums';
import { Id } from '../scalars';
import { InventoryItem } from './inventory-item';
import { Order } from './order';
import { Pet } from './pet';

type Kind = keyof typeof ChangeKind;

@ObjectType({ simpleResolvers: true, description: 'That a pet has changed.' })
export class PetChange {
  @Field(() => ChangeKind, { description: 'What has happened to it.' })
  kind!: Kind;

  @Field(() => Id, { description: 'Which pet.' })
  id!: bigint;

  @Field(() => Pet, { description: 'The pet as it is now; once deleted, as it was.' })
  pet!: Pet;
}

@ObjectType({ simpleResolvers: true, description: 'That an order has changed.' })
export class OrderChange {
  @Field(() => ChangeKind, { description: 'What has happened to it; `DELETED`: it was cancelled.' })
  kind!: Kind;

  @Field(() => Id, { description: 'Which order.' })
  id!: bigint;

  @Field(() => Order, { description: 'The order as it is now; once cancelled, as it was.' })
  order!: Order;
}

@ObjectType({ simpleResolvers: true, description: 'That the stock of a pet has changed.' })
export class InventoryChange {
  @Field(() => ChangeKind, {
    description: 'What has happened to it; `CREATED`: it is tracked from now on, `DELETED`: no longer.',
  })
  kind!: Kind;

  @Field(() => Id, { description: 'The pet whose stock it is.' })
  petId!: bigint;

  @Field(() => InventoryItem, { description: 'The stock as it is now; no longer tracked, as it was.' })
  item!: InventoryItem;
}
