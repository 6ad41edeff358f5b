import { Field, InputType, Int } from 'type-graphql';
import { STOCK } from '../../domain/input-rules';
import { INVENTORY_UPDATE } from '../../domain/inventory-service';
import { NEW_ORDER, ORDER_UPDATE } from '../../domain/order-service';
import { JsonSchema, Rules } from '../../graphql/directives/json-schema';
import { nullable } from '../nullable';
import { DateTime, Id } from '../scalars';

@Rules(NEW_ORDER)
@InputType({
  description: 'An order to place. All fields are optional; it takes stock if it has a pet and a quantity.',
})
export class NewOrder {
  @Field(() => Id, nullable('ID of the pet in the order.'))
  petId?: bigint | null;

  @Field(() => Int, nullable('Number of units ordered, at least 1.'))
  quantity?: number | null;

  @Field(() => DateTime, nullable('Expected or actual ship date; returned in UTC with milliseconds.'))
  shipDate?: Date | null;

  @Field(() => Boolean, nullable('Whether the order has been fulfilled; false by default.'))
  complete?: boolean | null;
}

@Rules(ORDER_UPDATE)
@JsonSchema({ example: { complete: true } })
@InputType({ description: 'Changes to an order. Omitted fields keep their values.' })
export class OrderUpdate {
  @Field(() => Id, nullable('The id of the new pet; null removes it. Reserved stock moves with it.'))
  petId?: bigint | null;

  @Field(() => Int, nullable('The new number of units; null removes it. Reserved stock is adjusted.'))
  quantity?: number | null;

  @Field(() => DateTime, nullable('The new ship date; null removes it.'))
  shipDate?: Date | null;

  @Field(() => Boolean, nullable('Whether the order has been fulfilled; cannot be null.'))
  complete?: boolean | null;
}

@Rules(INVENTORY_UPDATE)
@InputType({ description: "A change to a pet's stock." })
export class InventoryUpdate {
  @Field(() => Int, { description: `The new stock count, ${STOCK.minimum} to ${STOCK.maximum}.` })
  quantity!: number;
}
