import fc from 'fast-check';
import type { Gateway } from './gateway';
import type { World } from './world';

export interface Row {
  id: number;
  name?: string;
  shipDate?: string | null;
  quantity?: number | null;
}

export type Compare = (a: Row, b: Row) => number;
type Filter<T> = [filter: object | null, passes: (row: T) => boolean];

/** One connection of the schema, with the expected rows. */
export interface List {
  /** `pets` or, nested, `category(id: 1) { pets`. */
  field: string;
  filterType: string;
  orderType: string;
  /** The field that contains the id. */
  key: 'id' | 'petId';
  orders: Record<string, Compare>;
  /** A filter, and the rows that match it. */
  rows(world: World): fc.Arbitrary<[object | null, Row[]]>;
}

export const byId: Compare = (a, b) => a.id - b.id;
export const byName: Compare = (a, b) => Buffer.compare(Buffer.from(a.name ?? ''), Buffer.from(b.name ?? ''));
export const byQuantity: Compare = (a, b) => (a.quantity ?? 0) - (b.quantity ?? 0);
export const byShipDate: Compare = (a, b) => {
  const [left, right] = [a, b].map((row) => (row.shipDate ? Date.parse(row.shipDate) : Number.MAX_VALUE));
  return (left ?? 0) - (right ?? 0);
};

function anyOf<T extends Row>(rows: T[], ...filters: Filter<T>[]): fc.Arbitrary<[object | null, Row[]]> {
  return fc
    .constantFrom<Filter<T>[]>([null, () => true], ...filters)
    .map(([filter, passes]) => [filter, rows.filter(passes)]);
}

type PetRow = World['pets'][number];
type OrderRow = World['orders'][number];
const PET_FILTERS: Filter<PetRow>[] = [
  [{ statuses: ['sold', 'pending'] }, (pet) => pet.status !== 'available'],
  [{ categoryIds: [2, 3], name: 'A' }, (pet) => pet.categoryId > 1 && /^a/i.test(pet.name)],
  [
    { ids: [1, 2, 4, 8, 16, 32], statuses: ['available', 'sold'] },
    (pet) => (pet.id & (pet.id - 1)) === 0 && pet.status !== 'pending',
  ],
];
const ORDER_FILTERS: Filter<OrderRow>[] = [
  [{ complete: true }, (order) => order.complete],
  [{ ids: [1, 2, 3, 5, 8, 13] }, (order) => [1, 2, 3, 5, 8, 13].includes(order.id)],
  [{ complete: false, petIds: [1] }, (order) => !order.complete && order.petId === 1],
];
const pets = {
  filterType: 'PetFilter',
  orderType: 'PetSort',
  key: 'id',
  orders: { ID: byId, NAME: byName },
} as const;
const orders = {
  filterType: 'OrderFilter',
  orderType: 'OrderSort',
  key: 'id',
  orders: { ID: byId, SHIP_DATE: byShipDate },
} as const;

/** Every connection of the schema. */
export const LISTS: List[] = [
  { ...pets, field: 'pets', rows: (world) => anyOf(world.pets, ...PET_FILTERS) },
  {
    ...pets,
    field: 'category(id: 2) { pets',
    rows: (world) =>
      anyOf(
        world.pets.filter((pet) => pet.categoryId === 2),
        ...PET_FILTERS,
      ),
  },
  { ...orders, field: 'orders', rows: (world) => anyOf(world.orders, ...ORDER_FILTERS) },
  {
    ...orders,
    field: 'pet(id: 1) { orders',
    rows: (world) =>
      anyOf(
        world.orders.filter((order) => order.petId === 1),
        ...ORDER_FILTERS,
      ),
  },
  {
    field: 'categories',
    filterType: 'CategoryFilter',
    orderType: 'CategorySort',
    key: 'id',
    orders: { ID: byId, NAME: byName },
    rows: (world) =>
      anyOf(world.categories, [{ name: 'rEX' }, (category) => /rex/i.test(category.name)], [{ ids: [] }, () => false]),
  },
  {
    field: 'inventory',
    filterType: 'InventoryFilter',
    orderType: 'InventorySort',
    key: 'petId',
    orders: { PET_ID: byId, QUANTITY: byQuantity },
    rows: (world) =>
      anyOf(
        world.pets.filter((pet) => pet.quantity !== null),
        [{ petIds: [1, 2, 4, 8] }, (pet) => [1, 2, 4, 8].includes(pet.id)],
        [{ maxQuantity: 1 }, (pet) => (pet.quantity ?? 9) <= 1],
        [{ maxQuantity: 2, statuses: ['sold'] }, (pet) => (pet.quantity ?? 9) <= 2 && pet.status === 'sold'],
      ),
  },
];

interface Page {
  totalCount: number;
  pageInfo: {
    hasNextPage: boolean;
    hasPreviousPage: boolean;
    startCursor: string | null;
    endCursor: string | null;
  };
  nodes: { id: string }[];
  edges: { cursor: string; node: { id: string } }[];
}

/** A query for a page of the list, with `$first`, `$after`, `$last`, `$before`, `$filter`, `$orderBy`. */
export function queryOf({ field, filterType, orderType, key }: List): string {
  const types = {
    first: 'Int',
    after: 'String',
    last: 'Int',
    before: 'String',
    filter: filterType,
    orderBy: orderType,
  };
  const declared = Object.entries(types).map(([name, type]) => `$${name}: ${type}`);
  const given = Object.keys(types).map((name) => `${name}: $${name}`);
  const parts = `totalCount pageInfo { hasNextPage hasPreviousPage startCursor endCursor } nodes { id: ${key} } edges { cursor node { id: ${key} } }`;
  const end = field.includes('{') ? '}' : '';
  return `query (${declared.join(', ')}) { ${field}(${given.join(', ')}) { ${parts} } ${end} }`;
}

/** Reads a page, and checks what holds for every page. */
export async function readPage(
  gateway: Gateway,
  list: List,
  args: object,
): Promise<{ ids: number[]; cursors: string[] } & Page['pageInfo'] & { total: number }> {
  const data = await gateway.data<Record<string, unknown>>(queryOf(list), args);
  let [connection] = Object.values(data);
  if (list.field.includes('{')) [connection] = Object.values(connection as object);
  const { totalCount: total, pageInfo, nodes, edges } = connection as Page;
  const cursors = edges.map((edge) => edge.cursor);
  expect(edges.map((edge) => edge.node)).toEqual(nodes);
  expect(pageInfo).toMatchObject({ startCursor: cursors[0] ?? null, endCursor: cursors.at(-1) ?? null });
  return { ids: nodes.map(({ id }) => Number(id)), cursors, ...pageInfo, total };
}
