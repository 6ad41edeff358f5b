import type { Category, Inventory, Order, Pet } from './generated/client';

/** A row that was asked for as JSON has its text; of its fields only those that finding and ordering it takes are there. */
export interface Spelled {
  readonly json?: string;
}

/** A pet as it is read. Relations stand in a row where they were read along with it. */
export type PetRow = Pet & Spelled & { category?: CategoryRow; inventory?: InventoryRow | null };
export type CategoryRow = Category & Spelled;
/** An order as it is read; what it holds in stock is its own business. */
export type OrderRow = Omit<Order, 'reserved'> & Spelled & { pet?: PetRow | null };
/** Stock with the status of its pet: one truth, one column. */
export type InventoryRow = Inventory & Pick<Pet, 'status'> & Spelled & { pet?: PetRow };

/** The SQL type of an order key. */
export type KeyType = 'bigint' | 'text' | 'integer' | 'timestamptz';

/** What a column holds. `word`: text that needs no escape in JSON. */
export type Kind = 'id' | 'text' | 'word' | 'integer' | 'boolean' | 'moment';
/** Of a column that may be null. */
export type OptionalKind = `${Kind}?`;

/** A column for every field of a row that is not a relation. */
type Columns<Row> = { [field in keyof Row as undefined extends Row[field] ? never : field]: string };
/** What each of them holds. */
type Kinds<Row> = {
  [field in keyof Columns<Row> & keyof Row]: null extends Row[field] ? OptionalKind : Kind;
};

/** One order of a table: the expression it sorts by, and its key in a row as text for a cursor. */
export interface OrderKey<Row> {
  readonly expression: string;
  readonly type: KeyType;
  /** The field that the expression is made of; read along with the page. */
  readonly field: string;
  keyOf(row: Row): string;
}

/** A relation to one row of another table, or to none. */
export interface Relation {
  /** The field that it is found by. */
  readonly field: string;
  /** How it is read along; empty where the table's own `from` has it already. */
  readonly join: string;
  /** Whether there may be none. */
  readonly isOptional?: boolean;
  table(): Table<object>;
}

/** How a table is read: the one place that spells its columns, orders and filters in SQL. */
export interface Table<Row> {
  readonly name: string;
  readonly from: string;
  readonly idField: string;
  readonly columns: Readonly<Record<string, string>>;
  /** What each column holds. */
  readonly kinds: Readonly<Record<string, Kind | OptionalKind>>;
  /** Relations to one row of another table. */
  readonly relations: Readonly<Record<string, Relation>>;
  readonly orders: Readonly<Record<string, OrderKey<Row>>>;
  /** Conditions by filter name; `?` stands for the value. */
  readonly filters: Readonly<Record<string, string>>;
  idOf(row: Row): bigint;
}

export const PETS: Table<PetRow> = {
  name: 'pets',
  from: 'pets',
  idField: 'id',
  columns: {
    id: 'pets.id',
    name: 'pets.name',
    status: 'pets.status',
    categoryId: 'pets.category_id',
  } satisfies Columns<Pet>,
  kinds: { id: 'id', name: 'text', status: 'word', categoryId: 'id' } satisfies Kinds<Pet>,
  relations: {
    category: {
      field: 'categoryId',
      join: 'join categories on categories.id = pets.category_id',
      table: () => CATEGORIES,
    },
    inventory: {
      field: 'id',
      join: 'left join inventory on inventory.pet_id = pets.id',
      isOptional: true,
      table: () => INVENTORY,
    },
  },
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
  columns: {
    id: 'categories.id',
    name: 'categories.name',
    description: 'categories.description',
  } satisfies Columns<Category>,
  kinds: { id: 'id', name: 'text', description: 'text?' } satisfies Kinds<Category>,
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
  } satisfies Columns<Omit<Order, 'reserved'>>,
  kinds: {
    id: 'id',
    petId: 'id?',
    quantity: 'integer?',
    shipDate: 'moment?',
    complete: 'boolean',
  } satisfies Kinds<Omit<Order, 'reserved'>>,
  relations: {
    pet: {
      field: 'petId',
      join: 'left join pets on pets.id = orders.pet_id',
      isOptional: true,
      table: () => PETS,
    },
  },
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
  columns: {
    petId: 'inventory.pet_id',
    quantity: 'inventory.quantity',
    status: 'pets.status',
  } satisfies Columns<InventoryRow>,
  kinds: { petId: 'id', quantity: 'integer', status: 'word' } satisfies Kinds<InventoryRow>,
  relations: { pet: { field: 'petId', join: '', table: () => PETS } },
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
