import type { RestRoute } from '../../rest/rest-route';

/** The fields of an order in all REST responses. The ETag of the order is computed from them. */
const ORDER = 'fragment order on Order { id petId quantity shipDate complete }';

/** The REST operations on orders. */
export const ORDER_ROUTES: readonly RestRoute[] = [
  {
    on: 'GET /store/orders',
    ok: 200,
    summary: 'List orders',
    document: `query listOrders(
        $limit: Int = 20, $cursor: String, $sort: OrderSort, $id: [ID!], $petId: [ID!], $complete: Boolean
      ) {
        orders(
          first: $limit, after: $cursor, orderBy: $sort, filter: { ids: $id, petIds: $petId, complete: $complete }
        ) { nodes { ...order } pageInfo { hasNextPage endCursor } }
      } ${ORDER}`,
  },
  {
    on: 'POST /store/orders',
    ok: 201,
    summary: 'Place an order',
    document: `mutation placeOrder($input: NewOrder!) { placeOrder(input: $input) { ...order } } ${ORDER}`,
  },
  {
    on: 'GET /store/orders/{orderId}',
    ok: 200,
    summary: 'Get an order',
    description: 'The order with this id.',
    document: `query getOrder($orderId: ID!) { order(id: $orderId) { ...order } } ${ORDER}`,
  },
  {
    on: 'PATCH /store/orders/{orderId}',
    ok: 200,
    summary: 'Update an order',
    document: `mutation updateOrder($orderId: ID!, $input: OrderUpdate!) {
        updateOrder(id: $orderId, input: $input) { ...order }
      } ${ORDER}`,
  },
  {
    on: 'DELETE /store/orders/{orderId}',
    ok: 204,
    summary: 'Cancel an order',
    description:
      'Deletes an order. Its reserved stock is released unless the order is complete. Cancelling a complete order needs the scope WRITE.',
    document: `mutation cancelOrder($orderId: ID!) { cancelOrder(id: $orderId) { ...order } } ${ORDER}`,
  },
];
