import { COLUMNS } from '../database/generated/columns';
import { nodeIdOf, sortOrders, type Table } from '../database/reading/table';
import type { CategoryRow, InventoryRow, OrderRow, PetRow } from './rows';

const { pets, categories, inventory: stock } = COLUMNS;
const { reserved: _, ...orders } = COLUMNS.orders;
const inventory = { ...stock, status: pets.status };

export const PETS: Table<PetRow> = {
  name: 'pets',
  idField: 'id',
  columns: pets,
  computed: nodeIdOf('Pet', pets.id),
  relations: {
    category: { field: 'categoryId', join: 'inner', table: () => CATEGORIES },
    inventory: { field: 'id', join: 'left', table: () => INVENTORY },
  },
  orders: sortOrders<PetRow>(pets, { ID: 'id', NAME: 'name' }),
  filters: {
    ids: { kind: 'ids' },
    categoryIds: { kind: 'equal', column: pets.categoryId },
    statuses: { kind: 'equal', column: pets.status },
    name: { kind: 'name', column: pets.name, order: 'NAME' },
  },
  idOf: (pet) => pet.id,
};

export const CATEGORIES: Table<CategoryRow> = {
  name: 'categories',
  idField: 'id',
  columns: categories,
  computed: nodeIdOf('Category', categories.id),
  relations: {},
  orders: sortOrders<CategoryRow>(categories, { ID: 'id', NAME: 'name' }),
  filters: { ids: { kind: 'ids' }, name: { kind: 'name', column: categories.name, order: 'NAME' } },
  idOf: (category) => category.id,
};

export const ORDERS: Table<OrderRow> = {
  name: 'orders',
  idField: 'id',
  columns: orders,
  computed: nodeIdOf('Order', orders.id),
  relations: { pet: { field: 'petId', join: 'left', table: () => PETS } },
  orders: sortOrders<OrderRow>(orders, { ID: 'id', SHIP_DATE: 'shipDate' }),
  filters: {
    ids: { kind: 'ids' },
    petIds: { kind: 'equal', column: orders.petId },
    complete: { kind: 'equal', column: orders.complete },
  },
  idOf: (order) => order.id,
};

export const INVENTORY: Table<InventoryRow> = {
  name: 'inventory',
  joins: ` join pets on ${pets.id.sql} = ${stock.petId.sql}`,
  idField: 'petId',
  columns: inventory,
  computed: nodeIdOf('InventoryItem', stock.petId),
  relations: { pet: { field: 'petId', join: 'included', table: () => PETS } },
  orders: sortOrders<InventoryRow>(inventory, { PET_ID: 'petId', QUANTITY: 'quantity' }),
  filters: {
    petIds: { kind: 'ids' },
    statuses: { kind: 'joined', column: pets.status },
    maxQuantity: { kind: 'atMost', column: stock.quantity, order: 'QUANTITY' },
  },
  idOf: (item) => item.petId,
};
