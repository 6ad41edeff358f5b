import { Field, Int, ObjectType } from 'type-graphql';
import { PetStatus } from '../enums';
import { Id } from '../scalars';

@ObjectType({
  simpleResolvers: true,
  description:
    'The stock of one animal. It exists once its stock has been set; until then orders are not limited.',
})
export class InventoryItem {
  @Field(() => Id, { description: 'The animal that the entry tracks.' })
  petId!: bigint;

  @Field(() => Int, { description: 'Current stock count: what placed orders have taken is no longer in it.' })
  quantity!: number;

  @Field(() => PetStatus, { description: "The animal's own status." })
  status!: PetStatus;
}
