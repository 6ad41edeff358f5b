import type { Definition } from '../../rest/rest-operation';

export const list: Definition = { field: 'Query.orders', summary: 'List orders' };

export const place: Definition = {
  field: 'Mutation.placeOrder',
  summary: 'Place an order',
};

export const get: Definition = {
  field: 'Query.order',
  summary: 'Get an order',
  description: 'The order with this id.',
};

export const update: Definition = {
  field: 'Mutation.updateOrder',
  summary: 'Update an order',
};

export const cancel: Definition = {
  field: 'Mutation.cancelOrder',
  summary: 'Cancel an order',
  description: 'Deletes an order and returns its reserved stock, unless it is complete.',
};
