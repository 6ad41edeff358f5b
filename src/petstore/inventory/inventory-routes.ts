import type { RestRoute } from '../../rest/rest-route';

/** The fields of an inventory entry in all REST responses. The ETag of the entry is computed from them. */
const ITEM = 'fragment item on InventoryItem { petId quantity status }';

/** The REST operations on stock. */
export const INVENTORY_ROUTES: readonly RestRoute[] = [
  {
    on: 'GET /store/inventory',
    ok: 200,
    summary: 'List the inventory',
    document: `query listInventory(
        $limit: Int = 20, $cursor: String, $sort: InventorySort,
        $petId: [ID!], $status: [PetStatus!], $maxQuantity: Int, $minQuantity: Int
      ) {
        inventory(
          first: $limit, after: $cursor, orderBy: $sort,
          filter: { petIds: $petId, statuses: $status, maxQuantity: $maxQuantity, minQuantity: $minQuantity }
        ) { nodes { ...item } pageInfo { hasNextPage endCursor } }
      } ${ITEM}`,
  },
  {
    on: 'GET /store/inventory/{petId}',
    ok: 200,
    summary: 'Get the stock of a pet',
    description: 'The inventory entry of a pet. It exists once the stock has been set.',
    document: `query getInventory($petId: ID!) { inventoryItem(petId: $petId) { ...item } } ${ITEM}`,
    missing: 'Pet {petId} has no inventory entry.',
  },
  {
    on: 'PUT /store/inventory/{petId}',
    ok: 200,
    summary: 'Set the stock of a pet',
    body: 'InventoryUpdate',
    document: `mutation setInventory($petId: ID!, $quantity: Int!) {
        setInventory(petId: $petId, input: { quantity: $quantity }) { ...item }
      } ${ITEM}`,
  },
  {
    on: 'POST /store/inventory/{petId}/adjustments',
    ok: 200,
    summary: 'Adjust the stock of a pet',
    body: 'InventoryAdjustment',
    document: `mutation adjustInventory($petId: ID!, $by: Int!) { adjustInventory(petId: $petId, by: $by) { ...item } } ${ITEM}`,
  },
  {
    on: 'DELETE /store/inventory/{petId}',
    ok: 204,
    summary: 'Stop tracking the stock of a pet',
    description: 'Removes the inventory entry; orders for the pet are no longer limited.',
    document: `mutation removeInventory($petId: ID!) { removeInventory(petId: $petId) { ...item } } ${ITEM}`,
  },
];
