import { buildASTSchema, type GraphQLSchema, parse } from 'graphql';

/** The rows of a petstore. */
export interface Rows {
  readonly categories: readonly { id: number; name: string; description: string | null }[];
  readonly pets: readonly { id: number; name: string; status: string; categoryId: number }[];
  readonly inventory: readonly { petId: number; quantity: number }[];
  readonly orders: readonly {
    id: number;
    petId: number | null;
    quantity: number | null;
    shipDate: string | null;
    complete: boolean;
  }[];
}

type Category = Rows['categories'][number];
type Pet = Rows['pets'][number];
type Item = Rows['inventory'][number];
type Order = Rows['orders'][number];

interface PageArgs {
  first?: number | null;
  last?: number | null;
  after?: string | null;
  before?: string | null;
  filter?: Record<string, unknown> | null;
  orderBy?: { field?: string; direction: 'ASC' | 'DESC' } | null;
}

/** The published schema. graphql-js executes its queries with {@link rootOf} as the root value. */
export function schemaOf(sdl: string): GraphQLSchema {
  return buildASTSchema(parse(sdl));
}

/**
 * The queries of the petstore over rows in memory. This is a model of the expected responses, written as simply as possible.
 * It does not support cursors: `after` and `before` are errors.
 */
export function rootOf(rows: Rows) {
  const pets = new Map(rows.pets.map((pet) => [String(pet.id), pet]));
  const categories = new Map(rows.categories.map((category) => [String(category.id), category]));
  const orders = new Map(rows.orders.map((order) => [String(order.id), order]));
  const items = new Map(rows.inventory.map((item) => [String(item.petId), item]));
  /** Whether the name contains the text of the filter. A text of fewer than three characters must be the start of the name. */
  const named = (row: { name: string }, { name }: Filter) => {
    if (name === undefined || name === null) return true;
    const [text, part] = [row.name.toLowerCase(), name.toLowerCase()];
    return [...part].length < 3 ? text.startsWith(part) : text.includes(part);
  };

  const petType = (pet: Pet | undefined): unknown =>
    pet && {
      __typename: 'Pet',
      ...pet,
      nodeId: nodeId('Pet', pet.id),
      category: () => categoryType(categories.get(String(pet.categoryId))),
      inventory: () => itemType(items.get(String(pet.id))) ?? null,
      orders: (args: PageArgs) =>
        orderPage(
          rows.orders.filter(({ petId }) => petId === pet.id),
          args,
        ),
    };
  const categoryType = (category: Category | undefined): unknown =>
    category && {
      __typename: 'Category',
      ...category,
      nodeId: nodeId('Category', category.id),
      pets: (args: PageArgs) =>
        petPage(
          rows.pets.filter(({ categoryId }) => categoryId === category.id),
          args,
        ),
    };
  const orderType = (order: Order | undefined): unknown =>
    order && {
      __typename: 'Order',
      ...order,
      nodeId: nodeId('Order', order.id),
      pet: () => petType(pets.get(String(order.petId))) ?? null,
    };
  const itemType = (item: Item | undefined): unknown =>
    item && {
      __typename: 'InventoryItem',
      ...item,
      nodeId: nodeId('InventoryItem', item.petId),
      status: pets.get(String(item.petId))?.status,
      pet: () => petType(pets.get(String(item.petId))),
    };

  const petPage = (from: readonly Pet[], args: PageArgs) =>
    page('Pet', from, args, petType, { ID: ({ id }) => id, NAME: ({ name }) => name }, (pet, filter) => {
      const { ids, statuses, categoryIds } = filter;
      return isIn(pet.id, ids) && isIn(pet.status, statuses) && isIn(pet.categoryId, categoryIds) && named(pet, filter);
    });
  const orderPage = (from: readonly Order[], args: PageArgs) =>
    page(
      'Order',
      from,
      args,
      orderType,
      { ID: ({ id }) => id, SHIP_DATE: ({ shipDate }) => (shipDate ? Date.parse(shipDate) : Number.POSITIVE_INFINITY) },
      (order, { ids, petIds, complete }) =>
        isIn(order.id, ids) && isIn(order.petId, petIds) && (complete ?? order.complete) === order.complete,
    );
  const node = (id: string) => {
    const [type = '', key = ''] = Buffer.from(id, 'base64url').toString().split(':');
    const found = {
      Pet: () => petType(pets.get(key)),
      Category: () => categoryType(categories.get(key)),
      Order: () => orderType(orders.get(key)),
      InventoryItem: () => itemType(items.get(key)),
    }[type];
    if (!found) throw new Error('The id is not a nodeId.');
    return found() ?? null;
  };

  return {
    pet: ({ id }: { id: string }) => petType(pets.get(id)) ?? null,
    pets: (args: PageArgs) => petPage(rows.pets, args),
    category: ({ id }: { id: string }) => categoryType(categories.get(id)) ?? null,
    categories: (args: PageArgs) =>
      page(
        'Category',
        rows.categories,
        args,
        categoryType,
        { ID: ({ id }) => id, NAME: ({ name }) => name },
        (row, filter) => isIn(row.id, filter.ids) && named(row, filter),
      ),
    order: ({ id }: { id: string }) => orderType(orders.get(id)) ?? null,
    orders: (args: PageArgs) => orderPage(rows.orders, args),
    inventoryItem: ({ petId }: { petId: string }) => itemType(items.get(petId)) ?? null,
    inventory: (args: PageArgs) =>
      page(
        'InventoryItem',
        rows.inventory,
        args,
        itemType,
        { PET_ID: ({ petId }) => petId, QUANTITY: ({ quantity }) => quantity },
        (item, { petIds, statuses, maxQuantity }) =>
          isIn(item.petId, petIds) &&
          isIn(pets.get(String(item.petId))?.status, statuses) &&
          item.quantity <= (maxQuantity ?? item.quantity),
      ),
    node: ({ id }: { id: string }) => node(id),
    nodes: ({ ids }: { ids: string[] }) => ids.map(node),
  };
}

interface Filter {
  ids?: string[] | null;
  petIds?: string[] | null;
  categoryIds?: string[] | null;
  statuses?: string[] | null;
  name?: string | null;
  complete?: boolean | null;
  maxQuantity?: number | null;
}

function isIn(value: unknown, list: readonly string[] | null | undefined): boolean {
  return !list || list.includes(String(value));
}

function nodeId(type: string, id: number): string {
  return Buffer.from(`${type}:${id}`).toString('base64url');
}

function page<Row extends { id?: number; petId?: number | null }>(
  type: string,
  from: readonly Row[],
  { first, last, after, before, filter, orderBy }: PageArgs,
  typed: (row: Row) => unknown,
  sorts: Record<string, (row: Row) => string | number>,
  isKept: (row: Row, filter: Filter) => boolean,
) {
  if (after || before) throw new Error('The model does not support cursors.');
  const size = first ?? last ?? 20;
  if (size < 1 || size > 100 || (first != null && last != null)) throw new Error('The page arguments are invalid.');
  const key = (row: Row) => row.id ?? row.petId ?? 0;
  const value = sorts[orderBy?.field ?? ''] ?? key;
  const sign = orderBy?.direction === 'DESC' ? -1 : 1;
  const all = from
    .filter((row) => isKept(row, filter ?? {}))
    .sort((a, b) => sign * (compared(value(a), value(b)) || key(a) - key(b)));
  const isFromEnd = last != null;
  const rows = isFromEnd ? all.slice(-size) : all.slice(0, size);
  const cursor = (row: Row) => `cursor of ${key(row)}`;
  return {
    __typename: `${type}Connection`,
    nodes: rows.map(typed),
    edges: rows.map((row) => ({ __typename: `${type}Edge`, cursor: cursor(row), node: typed(row) })),
    totalCount: all.length,
    totalCountRelation: 'EQUAL',
    pageInfo: {
      __typename: 'PageInfo',
      hasNextPage: !isFromEnd && all.length > rows.length,
      hasPreviousPage: isFromEnd && all.length > rows.length,
      startCursor: () => (rows[0] ? cursor(rows[0]) : null),
      endCursor: () => (rows.length ? cursor(rows[rows.length - 1] as Row) : null),
    },
  };
}

/** Compares numbers, or names by code point like PostgreSQL's collation "C". */
function compared(a: string | number, b: string | number): number {
  if (typeof a === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(String(b)));
  return a === b ? 0 : a - Number(b);
}
