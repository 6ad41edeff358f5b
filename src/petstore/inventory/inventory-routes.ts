import type { Operation } from '../../rest/rest-operation';

/** The REST operations on stock. */
export const INVENTORY_ROUTES: readonly Operation[] = [
  {
    id: 'listInventory',
    on: 'GET /store/inventory',
    ok: 200,
    field: 'Query.inventory',
    summary: 'List the inventory',
    filters: { petIds: 'petId', statuses: 'status' },
  },
  {
    id: 'getInventory',
    on: 'GET /store/inventory/{petId}',
    ok: 200,
    field: 'Query.inventoryItem',
    summary: 'Get the stock of a pet',
    description: 'The inventory entry of a pet. It exists once the stock has been set.',
    missing: 'Pet {petId} has no inventory entry.',
  },
  {
    id: 'setInventory',
    on: 'PUT /store/inventory/{petId}',
    ok: 200,
    field: 'Mutation.setInventory',
    summary: 'Set the stock of a pet',
  },
  {
    id: 'removeInventory',
    on: 'DELETE /store/inventory/{petId}',
    ok: 204,
    field: 'Mutation.removeInventory',
    summary: 'Stop tracking the stock of a pet',
    description: 'Removes the inventory entry; orders for the pet are no longer limited.',
  },
];
