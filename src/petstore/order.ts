import { Field, Int, ObjectType } from 'type-graphql';
import { JsonSchema, Rules } from '../graphql/json-schema';
import { nullable } from '../graphql/nullable';
import { DateTime, Id } from '../graphql/scalars';
import { Node } from './node';
import { NEW_ORDER } from './orders/order-service';

@Rules(NEW_ORDER)
@JsonSchema({ required: [] })
@ObjectType({ simpleResolvers: true, implements: Node, description: 'An order for a pet.' })
export class Order {
  @Field(() => Id, { description: "The order's unique identifier, assigned when it is placed." })
  id!: bigint;

  @Field(() => Id, nullable('ID of the pet in the order.'))
  petId!: bigint | null;

  @JsonSchema({ example: 2 })
  @Field(() => Int, nullable('Number of units ordered, at least 1.'))
  quantity!: number | null;

  @Field(() => DateTime, nullable('Expected or actual ship date, in UTC with milliseconds.'))
  shipDate!: Date | null;

  @Field(() => Boolean, { description: 'Whether the order has been fulfilled.' })
  complete!: boolean;
}
