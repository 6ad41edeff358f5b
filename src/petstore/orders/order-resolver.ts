import { Args, Ctx, Mutation, Query, Resolver } from 'type-graphql';
import type { FieldSelection, PageSelection, RowSelection } from '../../database/reading/selection';
import { requireScope } from '../../graphql/admission';
import type { Context } from '../../graphql/context';
import { Paged, WEIGHTS, Weighs } from '../../graphql/cost-directives';
import { Errors, Input, nullable, RateLimited, RequiresScope } from '../../graphql/directives';
import { pageOf } from '../../graphql/page-args';
import { IdOf } from '../../graphql/scalars';
import { Selected } from '../../graphql/selected';
import { NewOrder, OrderPageArgs, OrderUpdate } from '../inputs';
import { conditionOf, IfVersion } from '../row-metadata';
import { Order, OrderConnection } from '../types';
import type { OrderService } from './order-service';

@Resolver(() => Order)
export class OrderResolver {
  constructor(private readonly orders: OrderService) {}

  @Weighs(WEIGHTS.statement)
  @RateLimited()
  @RequiresScope('READ')
  @Query(() => Order, nullable('The order with this id; null if there is none.'))
  order(@IdOf('order') id: bigint, @Ctx() { session }: Context, @Selected() selection: RowSelection) {
    return this.orders.get(session, id, selection);
  }

  @RateLimited()
  @RequiresScope('READ')
  @Paged('first', 'last')
  @Errors('BAD_USER_INPUT')
  @Query(() => OrderConnection, { name: 'orders', description: 'Orders, one page at a time.' })
  list(
    @Args(() => OrderPageArgs) args: OrderPageArgs,
    @Ctx() { session }: Context,
    @Selected() selection: PageSelection,
  ) {
    return this.orders.list(session, args.filter, pageOf(args), selection);
  }

  @Weighs(WEIGHTS.creation)
  @RateLimited()
  @RequiresScope('ORDER')
  @Errors('BAD_USER_INPUT', 'FORBIDDEN', 'INSUFFICIENT_STOCK', 'UNKNOWN_REFERENCE')
  @Mutation(
    () => Order,
    nullable(
      'Places an order. If the stock of the pet is tracked, the ordered units are taken from the stock at once. If the stock has too few units, the order is rejected with `INSUFFICIENT_STOCK`. `complete: true` needs the scope WRITE.',
    ),
  )
  placeOrder(
    @Input(NewOrder, 'The order to place.') input: NewOrder,
    @Ctx() { session, operationRequest }: Context,
    @Selected() selection: FieldSelection,
  ) {
    if (input.complete) requireScope(operationRequest.caller, 'WRITE');
    return this.orders.place(session, input, operationRequest.caller.user ?? null, selection);
  }

  @Weighs(WEIGHTS.change)
  @RateLimited()
  @RequiresScope('ORDER')
  @Errors(
    'BAD_USER_INPUT',
    'FORBIDDEN',
    'NOT_FOUND',
    'PRECONDITION_FAILED',
    'INSUFFICIENT_STOCK',
    'ORDER_COMPLETE',
    'UNKNOWN_REFERENCE',
  )
  @Mutation(
    () => Order,
    nullable(
      'Updates the given fields of an order; other fields keep their values. If the pet or quantity changes, the reserved stock is adjusted. The pet and quantity of a complete order cannot change. `complete` needs the scope WRITE.',
    ),
  )
  updateOrder(
    @IdOf('order') id: bigint,
    @Input(OrderUpdate) input: OrderUpdate,
    @IfVersion() ifVersion: string | null | undefined,
    @Ctx() { session, operationRequest }: Context,
    @Selected() selection: FieldSelection,
  ) {
    if (input.complete !== undefined) requireScope(operationRequest.caller, 'WRITE');
    return this.orders.update(session, id, input, conditionOf(operationRequest, ifVersion), selection);
  }

  @Weighs(WEIGHTS.change)
  @RateLimited()
  @RequiresScope('ORDER')
  @Errors('FORBIDDEN', 'NOT_FOUND', 'PRECONDITION_FAILED')
  @Mutation(
    () => Order,
    nullable(
      'Deletes an order; its reserved stock is released unless the order is complete. Cancelling a complete order needs the scope WRITE. Returns the deleted order.',
    ),
  )
  cancelOrder(
    @IdOf('order') id: bigint,
    @IfVersion() ifVersion: string | null | undefined,
    @Ctx() { session, operationRequest }: Context,
  ) {
    return this.orders.cancel(session, id, conditionOf(operationRequest, ifVersion), (order) => {
      if (order.complete) requireScope(operationRequest.caller, 'WRITE');
    });
  }
}
