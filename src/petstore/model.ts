import type { Change, Transaction } from '../database/database';
import type { Category, Inventory, Order, Pet } from '../database/generated/client';
import { COLUMNS } from '../database/generated/columns';
import { nodeIdOf, sortOrders, type Table, versionOf } from '../database/reading/table';
import { rowLock } from '../database/row-locks';

/** Fields that all rows have, and that are present only if they are selected. */
export interface RowMetadata {
  readonly createdAt?: Date | null;
  readonly updatedAt?: Date | null;
  /** A hash of the row. It changes with every write. */
  readonly version?: string;
}

type Stored<Row extends RowMetadata> = Omit<Row, keyof RowMetadata> & RowMetadata;

/** A pet as read from the database. `category` and `inventory` are present only if the same statement read them. */
export type PetRow = Stored<Pet> & { category?: CategoryRow; inventory?: InventoryRow | null };
export type CategoryRow = Stored<Category>;
/** An order as read from the database, without the number of reserved units, which is internal. */
export type OrderRow = Omit<Stored<Order>, 'reserved'> & { pet?: PetRow | null };
/** An inventory entry with the status of its pet, which comes from the table of pets. */
export type InventoryRow = Stored<Inventory> & Pick<Pet, 'status'> & { pet?: PetRow };

/** The topics of events, and the type of the rows of each topic. */
interface Topics {
  pet: PetRow;
  category: CategoryRow;
  order: OrderRow;
  inventory: InventoryRow;
}

/**
 * Publishes a change through the transaction that makes it, after the row is locked. The transaction writes an entry for the
 * change to the change feed. Subscribers get the change once the transaction is committed.
 */
export function publishChange<T extends keyof Topics>(
  transaction: Transaction,
  change: Change<Topics[T]> & { topic: T },
): void {
  transaction.publishOnCommit(change);
}

const { pets, categories, inventory: stock } = COLUMNS;
const { reserved: _, ...orders } = COLUMNS.orders;
const inventory = { ...stock, status: pets.status };

export const PETS: Table<PetRow> = {
  name: 'pets',
  type: 'Pet',
  idField: 'id',
  columns: pets,
  computed: { ...nodeIdOf('Pet', pets.id), ...versionOf('pets') },
  relations: {
    category: { field: 'categoryId', join: 'inner', table: () => CATEGORIES },
    inventory: { field: 'id', join: 'left', table: () => INVENTORY },
  },
  pages: { orders: { field: 'petId', table: () => ORDERS } },
  orders: sortOrders<PetRow>(pets, { ID: 'id', NAME: 'name' }),
  filters: {
    ids: { kind: 'ids' },
    categoryIds: { kind: 'equal', column: pets.categoryId },
    statuses: { kind: 'equal', column: pets.status },
    name: { kind: 'name', column: pets.name },
  },
  idOf: (pet) => pet.id,
};

export const CATEGORIES: Table<CategoryRow> = {
  name: 'categories',
  type: 'Category',
  idField: 'id',
  columns: categories,
  computed: { ...nodeIdOf('Category', categories.id), ...versionOf('categories') },
  relations: {},
  pages: { pets: { field: 'categoryId', table: () => PETS } },
  orders: sortOrders<CategoryRow>(categories, { ID: 'id', NAME: 'name' }),
  filters: { ids: { kind: 'ids' }, name: { kind: 'name', column: categories.name } },
  idOf: (category) => category.id,
};

export const ORDERS: Table<OrderRow> = {
  name: 'orders',
  type: 'Order',
  idField: 'id',
  owner: { column: 'owner' },
  columns: orders,
  computed: { ...nodeIdOf('Order', orders.id), ...versionOf('orders') },
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
  type: 'InventoryItem',
  joins: ` join pets on ${pets.id.sql} = ${stock.petId.sql}`,
  idField: 'petId',
  columns: inventory,
  computed: { ...nodeIdOf('InventoryItem', stock.petId), ...versionOf('inventory') },
  relations: { pet: { field: 'petId', join: 'included', table: () => PETS } },
  orders: sortOrders<InventoryRow>(inventory, { PET_ID: 'petId', QUANTITY: 'quantity' }),
  filters: {
    petIds: { kind: 'ids' },
    statuses: { kind: 'joined', column: pets.status },
    maxQuantity: { kind: 'atMost', column: stock.quantity, order: 'QUANTITY' },
    minQuantity: { kind: 'atLeast', column: stock.quantity, order: 'QUANTITY' },
  },
  idOf: (item) => item.petId,
};

export const TABLES = [PETS, CATEGORIES, ORDERS, INVENTORY] as readonly Table<object>[];

type Locked = Required<Pick<RowMetadata, 'version'>>;

/**
 * Row locks by table. To avoid deadlocks, lock orders first, then inventory, then pets. The lock on a pet is stronger (`for
 * update`): while a pet is being deleted, no order or inventory entry may be added for the pet.
 */
export const LOCK = {
  category: rowLock<Category & Locked>(CATEGORIES, 'no key update'),
  pet: rowLock<Pet & Locked>(PETS, 'update'),
  order: rowLock<Order & Locked>(ORDERS, 'no key update', COLUMNS.orders),
  inventory: rowLock<Inventory & Locked>(INVENTORY, 'no key update', stock),
};
