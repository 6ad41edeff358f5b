import { Field, Int, ObjectType } from 'type-graphql';
import { DateTime, Id } from '../contract/scalars';

@ObjectType({ simpleResolvers: true, description: 'An order for an animal.' })
export class Order {
  @Field(() => Id, { description: 'Assigned when the order is placed.' })
  id!: bigint;

  @Field(() => Id, { nullable: true, description: 'The id of the animal in the order.' })
  petId!: bigint | null;

  @Field(() => Int, { nullable: true, description: 'Number of units ordered, at least 1.' })
  quantity!: number | null;

  @Field(() => DateTime, { nullable: true, description: 'Expected or actual ship date.' })
  shipDate!: Date | null;

  @Field(() => Boolean, { description: 'Whether the order has been fulfilled.' })
  complete!: boolean;
}
