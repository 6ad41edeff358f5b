import type { Category, Inventory, Order, Pet } from '../generated/client';

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

/** The SQL type of an order key. */
export type KeyType = 'bigint' | 'text' | 'integer' | 'timestamptz';

/** The kind of value in a column. `word`: text that needs no escaping in JSON. */
export type Kind = 'id' | 'text' | 'word' | 'integer' | 'boolean' | 'moment';
/** The kind of a nullable column. */
export type OptionalKind = `${Kind}?`;

/** A column for every field of a row that is not a relation. */
type Columns<Row> = { [field in keyof Row as undefined extends Row[field] ? never : field]: string };
/** The kind of value in each of these columns. */
type Kinds<Row> = {
  [field in keyof Columns<Row> & keyof Row]: null extends Row[field] ? OptionalKind : Kind;
};

/** A sort order of a table: the expression it sorts by, and a row's key as text for a cursor. */
export interface OrderKey<Row> {
  readonly expression: string;
  readonly type: KeyType;
  /** The field the expression is based on; it is read with the page. */
  readonly field: string;
  keyOf(row: Row): string;
}

/** A relation to at most one row of another table. */
export interface Relation {
  /** The field that identifies the related row. */
  readonly field: string;
  /** The join that reads it; empty if the table's own `from` already includes it. */
  readonly join: string;
  /** Whether the related row may be missing. */
  readonly isOptional?: boolean;
  table(): Table<object>;
}

/** How a table is read: the only place that defines its columns, orders and filters in SQL. */
export interface Table<Row> {
  readonly name: string;
  readonly from: string;
  readonly idField: string;
  readonly columns: Readonly<Record<string, string>>;
  /** The kind of value in each column. */
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
