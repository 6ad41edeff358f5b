import type { Definition } from '../operation';

export const list: Definition = {
  tag: 'Store',
  summary: 'List the inventory',
  description: 'Stock counts that match every given filter, one page at a time.',
  document: `
    query listInventory($limit: Int, $cursor: String, $sort: InventoryOrderBy, $status: [PetStatus!], $maxQuantity: Int) {
      inventory(first: $limit, after: $cursor, orderBy: $sort, filter: { status: $status, maxQuantity: $maxQuantity }) {
        nodes { petId quantity status }
        pageInfo { hasNextPage endCursor }
      }
    }`,
  parameters: {
    status: 'Only entries of pets with any of these statuses.',
    maxQuantity: 'Only entries with at most this stock, to find what is running low.',
  },
};

export const get: Definition = {
  tag: 'Store',
  summary: 'Get the stock of a pet',
  description: 'The inventory entry of a pet. It exists once the stock has been set.',
  document: `
    query getInventory($petId: ID!) {
      inventoryItem(petId: $petId) { petId quantity status }
    }`,
  missing: 'Pet {petId} has no inventory entry.',
};

export const set: Definition = {
  tag: 'Store',
  summary: 'Set the stock of a pet',
  description: 'Sets the stock count, whatever it was before. From then on the stock of the pet is tracked.',
  document: `
    mutation setInventory($petId: ID!, $quantity: Int!) {
      setInventory(petId: $petId, input: { quantity: $quantity }) { petId quantity status }
    }`,
  body: 'InventoryUpdate',
  identity: 'petId',
};

export const remove: Definition = {
  tag: 'Store',
  summary: 'Stop tracking the stock of a pet',
  description: 'Removes the inventory entry; orders for the pet are no longer limited.',
  document: `
    mutation removeInventory($petId: ID!) {
      removeInventory(petId: $petId) { petId }
    }`,
};
