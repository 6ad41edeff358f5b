import type { Definition } from '../../rest/rest-operation';

export const list: Definition = { field: 'Query.inventory', summary: 'List the inventory' };

export const get: Definition = {
  field: 'Query.inventoryItem',
  summary: 'Get the stock of a pet',
  description: 'The inventory entry of a pet. It exists once the stock has been set.',
  missing: 'Pet {petId} has no inventory entry.',
};

export const set: Definition = { field: 'Mutation.setInventory', summary: 'Set the stock of a pet' };

export const remove: Definition = {
  field: 'Mutation.removeInventory',
  summary: 'Stop tracking the stock of a pet',
  description: 'Removes the inventory entry; orders for the pet are no longer limited.',
};
