import type { Definition } from '../operation';

export const list: Definition = {
  field: 'Query.orders',
  tag: 'Store',
  summary: 'List orders',
  description: 'Orders that match every given filter, one page at a time.',
};

export const place: Definition = {
  field: 'Mutation.placeOrder',
  tag: 'Store',
  summary: 'Place an order',
  description:
    'If the stock of the pet is tracked, the units are taken from it at once, or the order is refused with `INSUFFICIENT_STOCK`.',
  errors: ['INSUFFICIENT_STOCK', 'UNKNOWN_REFERENCE'],
};

export const get: Definition = {
  field: 'Query.order',
  tag: 'Store',
  summary: 'Get an order',
  description: 'The order with this id.',
};

export const update: Definition = {
  field: 'Mutation.updateOrder',
  tag: 'Store',
  summary: 'Update an order',
  description:
    'Changes the given fields only (JSON Merge Patch, RFC 7396); `null` removes `petId`, `quantity` or `shipDate`. Reserved stock follows the pet and the quantity, which can no longer change once the order is complete.',
  errors: ['INSUFFICIENT_STOCK', 'ORDER_COMPLETE', 'UNKNOWN_REFERENCE'],
};

export const cancel: Definition = {
  field: 'Mutation.cancelOrder',
  tag: 'Store',
  summary: 'Cancel an order',
  description: 'Deletes an order and returns its reserved stock, unless it is complete.',
};
