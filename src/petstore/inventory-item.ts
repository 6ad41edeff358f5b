import { Field, Int, ObjectType } from 'type-graphql';
import { JsonSchema, Rules } from '../graphql/json-schema';
import { Id } from '../graphql/scalars';
import { PetStatus } from './enum-types';
import { INVENTORY_UPDATE } from './inventory/inventory-service';
import { Node } from './node';

@Rules(INVENTORY_UPDATE)
@ObjectType({
  simpleResolvers: true,
  implements: Node,
  description: 'The stock of one pet. It exists once the stock has been set; until then orders are not limited.',
})
export class InventoryItem {
  @Field(() => Id, { description: 'ID of the pet that the entry tracks.' })
  petId!: bigint;

  @JsonSchema({ example: 5 })
  @Field(() => Int, { description: 'Current stock count, without the units taken by placed orders.' })
  quantity!: number;

  @Field(() => PetStatus, { description: "The pet's status." })
  status!: PetStatus;
}
