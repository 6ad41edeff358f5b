import type { Definition } from '../operation';

export const list: Definition = {
  field: 'Query.inventory',
  tag: 'Store',
  summary: 'List the inventory',
  description: 'Stock counts that match every given filter, one page at a time.',
};

export const get: Definition = {
  field: 'Query.inventoryItem',
  tag: 'Store',
  summary: 'Get the stock of a pet',
  description: 'The inventory entry of a pet. It exists once the stock has been set.',
  missing: 'Pet {petId} has no inventory entry.',
};

export const set: Definition = {
  field: 'Mutation.setInventory',
  tag: 'Store',
  summary: 'Set the stock of a pet',
  description: 'Sets the stock count, whatever it was before. From then on the stock of the pet is tracked.',
};

export const remove: Definition = {
  field: 'Mutation.removeInventory',
  tag: 'Store',
  summary: 'Stop tracking the stock of a pet',
  description: 'Removes the inventory entry; orders for the pet are no longer limited.',
};
