import type { Category, Inventory, Order, Pet } from './generated/client';

/** A pet as it is read. */
export type PetRow = Pet;
export type CategoryRow = Category;
/** An order as it is read; what it holds in stock is its own business. */
export type OrderRow = Omit<Order, 'reserved'>;
/** Stock with the status of its pet: one truth, one column. */
export type InventoryRow = Inventory & Pick<Pet, 'status'>;

/** The SQL type of an order key. */
export type KeyType = 'bigint' | 'text' | 'integer' | 'timestamptz';

/** One order of a table: the expression it sorts by, and its key in a row as text for a cursor. */
export interface OrderKey<Row> {
  readonly expression: string;
  readonly type: KeyType;
  /** The field that the expression is made of; read along with the page. */
  readonly field: keyof Row & string;
  keyOf(row: Row): string;
}

/** How a table is read: the one place that spells its columns, orders and filters in SQL. */
export interface Table<Row> {
  readonly name: string;
  readonly from: string;
  readonly idField: keyof Row & string;
  readonly columns: Readonly<Record<keyof Row & string, string>>;
  /** The field that a relation is found by. */
  readonly relations: Readonly<Record<string, keyof Row & string>>;
  readonly orders: Readonly<Record<string, OrderKey<Row>>>;
  /** Conditions by filter name; `?` stands for the value. */
  readonly filters: Readonly<Record<string, string>>;
  idOf(row: Row): bigint;
}

export const PETS: Table<PetRow> = {
  name: 'pets',
  from: 'pets',
  idField: 'id',
  columns: { id: 'pets.id', name: 'pets.name', status: 'pets.status', categoryId: 'pets.category_id' },
  relations: { category: 'categoryId' },
  orders: {
    ID: { expression: 'pets.id', type: 'bigint', field: 'id', keyOf: (pet) => String(pet.id) },
    NAME: { expression: 'pets.name', type: 'text', field: 'name', keyOf: (pet) => pet.name },
  },
  filters: {
    ids: 'pets.id = any(?::bigint[])',
    status: 'pets.status = any(?::text[]::pet_status[])',
    categoryId: 'pets.category_id = any(?::bigint[])',
    name: '(pets.name collate "default") ilike ?',
  },
  idOf: (pet) => pet.id,
};

export const CATEGORIES: Table<CategoryRow> = {
  name: 'categories',
  from: 'categories',
  idField: 'id',
  columns: { id: 'categories.id', name: 'categories.name', description: 'categories.description' },
  relations: {},
  orders: {
    ID: {
      expression: 'categories.id',
      type: 'bigint',
      field: 'id',
      keyOf: (category) => String(category.id),
    },
    NAME: { expression: 'categories.name', type: 'text', field: 'name', keyOf: (category) => category.name },
  },
  filters: {
    ids: 'categories.id = any(?::bigint[])',
    name: '(categories.name collate "default") ilike ?',
  },
  idOf: (category) => category.id,
};

export const ORDERS: Table<OrderRow> = {
  name: 'orders',
  from: 'orders',
  idField: 'id',
  columns: {
    id: 'orders.id',
    petId: 'orders.pet_id',
    quantity: 'orders.quantity',
    shipDate: 'orders.ship_date',
    complete: 'orders.complete',
  },
  relations: { pet: 'petId' },
  orders: {
    ID: { expression: 'orders.id', type: 'bigint', field: 'id', keyOf: (order) => String(order.id) },
    SHIP_DATE: {
      expression: "coalesce(orders.ship_date, 'infinity')",
      type: 'timestamptz',
      field: 'shipDate',
      keyOf: (order) => order.shipDate?.toISOString() ?? 'infinity',
    },
  },
  filters: {
    petId: 'orders.pet_id = any(?::bigint[])',
    complete: 'orders.complete = ?',
  },
  idOf: (order) => order.id,
};

export const INVENTORY: Table<InventoryRow> = {
  name: 'inventory',
  from: 'inventory join pets on pets.id = inventory.pet_id',
  idField: 'petId',
  columns: { petId: 'inventory.pet_id', quantity: 'inventory.quantity', status: 'pets.status' },
  relations: { pet: 'petId' },
  orders: {
    PET_ID: {
      expression: 'inventory.pet_id',
      type: 'bigint',
      field: 'petId',
      keyOf: (item) => String(item.petId),
    },
    QUANTITY: {
      expression: 'inventory.quantity',
      type: 'integer',
      field: 'quantity',
      keyOf: (item) => String(item.quantity),
    },
  },
  filters: {
    status: 'pets.status = any(?::text[]::pet_status[])',
    maxQuantity: 'inventory.quantity <= ?',
  },
  idOf: (item) => item.petId,
};
