import { Field, Int, ObjectType } from 'type-graphql';
import { PetStatus } from '../contract/enum-types';
import { Id } from '../contract/scalars';

@ObjectType({
  simpleResolvers: true,
  description:
    'The stock of one animal. It exists once the stock has been set; until then orders are not limited.',
})
export class InventoryItem {
  @Field(() => Id, { description: 'The id of the animal that the entry tracks.' })
  petId!: bigint;

  @Field(() => Int, { description: 'The current stock count, without the units taken by placed orders.' })
  quantity!: number;

  @Field(() => PetStatus, { description: "The animal's own status." })
  status!: PetStatus;
}
