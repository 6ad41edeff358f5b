import type { Operation } from '../../rest/rest-operation';

/** The REST operations on orders. */
export const ORDER_ROUTES: readonly Operation[] = [
  {
    id: 'listOrders',
    on: 'GET /store/orders',
    ok: 200,
    field: 'Query.orders',
    summary: 'List orders',
    filters: { ids: 'id', petIds: 'petId' },
  },
  { id: 'placeOrder', on: 'POST /store/orders', ok: 201, field: 'Mutation.placeOrder', summary: 'Place an order' },
  {
    id: 'getOrder',
    on: 'GET /store/orders/{orderId}',
    ok: 200,
    field: 'Query.order',
    summary: 'Get an order',
    description: 'The order with this id.',
  },
  {
    id: 'updateOrder',
    on: 'PATCH /store/orders/{orderId}',
    ok: 200,
    field: 'Mutation.updateOrder',
    summary: 'Update an order',
  },
  {
    id: 'cancelOrder',
    on: 'DELETE /store/orders/{orderId}',
    ok: 204,
    field: 'Mutation.cancelOrder',
    summary: 'Cancel an order',
    description: 'Deletes an order and returns its reserved stock, unless it is complete.',
  },
];
