import type { Category, Inventory, Order, Pet } from '../generated/client';
import { COLUMNS } from '../generated/columns';
import { matches, nodeIdOf, oneOf, sortOrders, type Table } from './table';

/** A row read as JSON carries its text; of its fields it has only those needed to find and order it. */
export interface Serialized {
  readonly $json?: string;
}

/** A pet as read. Relations are present if they were read with it. */
export type PetRow = Pet & Serialized & { category?: CategoryRow; inventory?: InventoryRow | null };
export type CategoryRow = Category & Serialized;
/** An order as read, without the units it has reserved. */
export type OrderRow = Omit<Order, 'reserved'> & Serialized & { pet?: PetRow | null };
/** Stock with its pet's status, which is stored only with the pet. */
export type InventoryRow = Inventory & Pick<Pet, 'status'> & Serialized & { pet?: PetRow };

const { pets, categories, inventory: stock } = COLUMNS;
const { reserved: _, ...orders } = COLUMNS.orders;
const inventory = { ...stock, status: pets.status };

export const PETS: Table<PetRow> = {
  name: 'pets',
  from: 'pets',
  idField: 'id',
  columns: pets,
  computed: nodeIdOf('Pet', pets.id),
  relations: {
    category: { field: 'categoryId', join: 'inner', table: () => CATEGORIES },
    inventory: { field: 'id', join: 'left', table: () => INVENTORY },
  },
  orders: sortOrders<PetRow>(pets, { ID: 'id', NAME: 'name' }),
  filters: {
    ids: oneOf(pets.id),
    statuses: oneOf(pets.status),
    categoryIds: oneOf(pets.categoryId),
    name: matches(pets.name),
  },
  idOf: (pet) => pet.id,
};

export const CATEGORIES: Table<CategoryRow> = {
  name: 'categories',
  from: 'categories',
  idField: 'id',
  columns: categories,
  computed: nodeIdOf('Category', categories.id),
  relations: {},
  orders: sortOrders<CategoryRow>(categories, { ID: 'id', NAME: 'name' }),
  filters: { ids: oneOf(categories.id), name: matches(categories.name) },
  idOf: (category) => category.id,
};

export const ORDERS: Table<OrderRow> = {
  name: 'orders',
  from: 'orders',
  idField: 'id',
  columns: orders,
  computed: nodeIdOf('Order', orders.id),
  relations: { pet: { field: 'petId', join: 'left', table: () => PETS } },
  orders: sortOrders<OrderRow>(orders, { ID: 'id', SHIP_DATE: 'shipDate' }),
  filters: { ids: oneOf(orders.id), petIds: oneOf(orders.petId), complete: `${orders.complete.sql} = ?` },
  idOf: (order) => order.id,
};

export const INVENTORY: Table<InventoryRow> = {
  name: 'inventory',
  from: `inventory join pets on ${pets.id.sql} = ${stock.petId.sql}`,
  idField: 'petId',
  columns: inventory,
  computed: nodeIdOf('InventoryItem', stock.petId),
  relations: { pet: { field: 'petId', join: 'included', table: () => PETS } },
  orders: sortOrders<InventoryRow>(inventory, { PET_ID: 'petId', QUANTITY: 'quantity' }),
  filters: {
    petIds: oneOf(stock.petId),
    statuses: oneOf(pets.status),
    maxQuantity: `${stock.quantity.sql} <= ?`,
  },
  idOf: (item) => item.petId,
};
