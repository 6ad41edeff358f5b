import type { Definition } from '../operation';

export const list: Definition = {
  tag: 'Store',
  summary: 'List orders',
  description: 'Orders that match every given filter, one page at a time.',
  document: `
    query listOrders($limit: Int, $cursor: String, $sort: OrderOrderBy, $petId: ID, $complete: Boolean) {
      orders(first: $limit, after: $cursor, orderBy: $sort, filter: { petId: $petId, complete: $complete }) {
        nodes { id petId quantity shipDate complete }
        pageInfo { hasNextPage endCursor }
      }
    }`,
  parameters: {
    petId: 'Only orders for this pet.',
    complete: 'Only orders that have, or have not, been fulfilled.',
  },
};

export const place: Definition = {
  tag: 'Store',
  summary: 'Place an order',
  description:
    'If the stock of the pet is tracked, the units are taken from it at once, or the order is refused with `INSUFFICIENT_STOCK`.',
  document: `
    mutation placeOrder($petId: ID, $quantity: Int, $shipDate: DateTime, $complete: Boolean) {
      placeOrder(input: { petId: $petId, quantity: $quantity, shipDate: $shipDate, complete: $complete }) {
        id petId quantity shipDate complete
      }
    }`,
  body: 'NewOrder',
  errors: ['INSUFFICIENT_STOCK', 'UNKNOWN_REFERENCE'],
};

export const get: Definition = {
  tag: 'Store',
  summary: 'Get an order',
  description: 'The order with this id.',
  document: `
    query getOrder($orderId: ID!) {
      order(id: $orderId) { id petId quantity shipDate complete }
    }`,
  missing: 'Order {orderId} does not exist.',
};

export const update: Definition = {
  tag: 'Store',
  summary: 'Update an order',
  description:
    'Changes the given fields only (JSON Merge Patch, RFC 7396); `null` removes `petId`, `quantity` or `shipDate`. Reserved stock follows the pet and the quantity, which can no longer change once the order is complete.',
  document: `
    mutation updateOrder($orderId: ID!, $petId: ID, $quantity: Int, $shipDate: DateTime, $complete: Boolean) {
      updateOrder(id: $orderId, input: { petId: $petId, quantity: $quantity, shipDate: $shipDate, complete: $complete }) {
        id petId quantity shipDate complete
      }
    }`,
  body: 'OrderUpdate',
  errors: ['INSUFFICIENT_STOCK', 'ORDER_COMPLETE', 'UNKNOWN_REFERENCE'],
};

export const cancel: Definition = {
  tag: 'Store',
  summary: 'Cancel an order',
  description: 'Deletes an order and returns its reserved stock, unless it is complete.',
  document: `
    mutation cancelOrder($orderId: ID!) {
      cancelOrder(id: $orderId) { id }
    }`,
};
