import * as limits from '../access/quota';
import type { Operation } from '../rest/rest-operation';
import * as categories from './categories/categories';
import * as inventory from './inventory/inventory';
import * as orders from './orders/orders';
import * as pets from './pets/pets';

/** The REST interface. */
export const OPERATIONS: readonly Operation[] = [
  { id: 'listPets', on: 'GET /pets', ok: 200, ...pets.list },
  { id: 'createPet', on: 'POST /pets', ok: 201, ...pets.create },
  { id: 'getPet', on: 'GET /pets/{petId}', ok: 200, ...pets.get },
  { id: 'replacePet', on: 'PUT /pets/{petId}', ok: 200, ...pets.replace },
  { id: 'updatePet', on: 'PATCH /pets/{petId}', ok: 200, ...pets.update },
  { id: 'deletePet', on: 'DELETE /pets/{petId}', ok: 204, ...pets.remove },

  { id: 'listCategories', on: 'GET /categories', ok: 200, ...categories.list },
  { id: 'createCategory', on: 'POST /categories', ok: 201, ...categories.create },
  { id: 'getCategory', on: 'GET /categories/{categoryId}', ok: 200, ...categories.get },
  { id: 'replaceCategory', on: 'PUT /categories/{categoryId}', ok: 200, ...categories.replace },
  { id: 'updateCategory', on: 'PATCH /categories/{categoryId}', ok: 200, ...categories.update },
  { id: 'deleteCategory', on: 'DELETE /categories/{categoryId}', ok: 204, ...categories.remove },

  { id: 'listOrders', on: 'GET /store/orders', ok: 200, ...orders.list },
  { id: 'placeOrder', on: 'POST /store/orders', ok: 201, ...orders.place },
  { id: 'getOrder', on: 'GET /store/orders/{orderId}', ok: 200, ...orders.get },
  { id: 'updateOrder', on: 'PATCH /store/orders/{orderId}', ok: 200, ...orders.update },
  { id: 'cancelOrder', on: 'DELETE /store/orders/{orderId}', ok: 204, ...orders.cancel },

  { id: 'listInventory', on: 'GET /store/inventory', ok: 200, ...inventory.list },
  { id: 'getInventory', on: 'GET /store/inventory/{petId}', ok: 200, ...inventory.get },
  { id: 'setInventory', on: 'PUT /store/inventory/{petId}', ok: 200, ...inventory.set },
  { id: 'removeInventory', on: 'DELETE /store/inventory/{petId}', ok: 204, ...inventory.remove },

  { id: 'getRateLimit', on: 'GET /rate_limit', ok: 200, ...limits.get },
  { id: 'getUsage', on: 'GET /usage', ok: 200, ...limits.usage },
];
