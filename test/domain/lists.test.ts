import fc from 'fast-check';
import type { Database } from '../../src/database/database';
import { statement } from '../../src/database/statement';
import { CategoryService } from '../../src/domain/category-service';
import type { Connection, PageArgs } from '../../src/domain/connection';
import { InventoryService } from '../../src/domain/inventory-service';
import { OrderService } from '../../src/domain/order-service';
import { PetService } from '../../src/domain/pet-service';
import { createDatabase } from '../helper/database';
import { runs } from '../helper/full';
import { byId, byName, byQuantity, byShipDate, type Compare, type Row } from '../helper/lists';
import { fill, STATUSES, type World, worlds } from '../helper/world';

let database: Database;
let drop: () => Promise<void>;
beforeAll(async () => {
  ({ database, drop } = await createDatabase());
});
afterAll(() => drop());

/** What is looked at of a page. */
type Shown = Pick<Connection<never>, 'pageInfo' | 'totalCount' | 'totalCountRelation'> & {
  readonly edges: readonly { readonly node: object; readonly cursor: string }[];
};

/** A list of a service, its filters, and the same in memory. */
interface Model<T extends Row = Row> {
  rows(world: World): T[];
  orders: Record<string, Compare>;
  filters: { [name: string]: { values: fc.Arbitrary<unknown>; passes(row: T, value: never): boolean } };
  list(filter: object, page: PageArgs, parents: bigint[]): Promise<Shown[]>;
  /** The whole list, up to a page's maximum. */
  all(page: PageArgs): Promise<Shown>;
  /** The parent of a row of a nested list. */
  parentOf?(row: T): number | null;
}

const pets = new PetService();
const categories = new CategoryService();
const orders = new OrderService();
const stock = new InventoryService();

const ids = fc.array(fc.bigInt(1n, 45n), { maxLength: 6 });
const some = (max: bigint) => fc.array(fc.bigInt(1n, max), { maxLength: 4 });
const statuses = fc.array(fc.constantFrom(...STATUSES), { maxLength: 4 });
const text = fc.constantFrom(
  'R',
  're',
  'rex',
  'REX',
  'É',
  'ém',
  'émi',
  'ÉMILE',
  'a',
  'aA',
  'b',
  'AARON',
  'zoe ',
  'x 9',
  '🐕',
  '～',
  ' b',
  '%',
  'e',
  '',
  'a b',
  '_',
);

/** Contains a text of three characters and more, begins with a shorter one. */
function isNamed({ name = '' }: Row, value: string): boolean {
  const [own, wanted] = [name.toLowerCase(), value.toLowerCase()];
  return [...value].length < 3 ? own.startsWith(wanted) : own.includes(wanted);
}
const has = (list: readonly unknown[], value: unknown) => list.includes(value);
const byIds = { values: ids, passes: (row: Row, value: bigint[]) => has(value, BigInt(row.id)) };
const byText = { values: text, passes: isNamed };

type PetModel = World['pets'][number];
const petFilters = {
  ids: byIds,
  statuses: { values: statuses, passes: (pet: PetModel, value: string[]) => has(value, pet.status) },
  categoryIds: { values: some(4n), passes: (pet: PetModel, value: bigint[]) => has(value, BigInt(pet.categoryId)) },
  name: byText,
};
type OrderModel = World['orders'][number];
const orderFilters = {
  ids: byIds,
  petIds: {
    values: some(3n),
    passes: ({ petId }: OrderModel, value: bigint[]) => petId !== null && has(value, BigInt(petId)),
  },
  complete: { values: fc.boolean(), passes: (order: OrderModel, value: boolean) => order.complete === value },
};
const one = async <T>(connection: Promise<T>) => [await connection];
const ofEach = async <T>(parents: bigint[], pages: Promise<Map<bigint, T>>) => {
  const found = await pages;
  return parents.map((parent) => found.get(parent) as T);
};

const MODELS: { readonly [list: string]: Model<never> } = {
  pets: {
    rows: (world) => world.pets as never[],
    orders: { ID: byId, NAME: byName },
    filters: petFilters,
    all: (page) => pets.list(database, {}, page),
    list: (filter, page) => one(pets.list(database, filter, page)),
  },
  'pets of categories': {
    rows: (world) => world.pets as never[],
    orders: { ID: byId, NAME: byName },
    filters: petFilters,
    all: (page) => pets.list(database, {}, page),
    list: (filter, page, parents) => ofEach(parents, pets.listByCategory(database, parents, filter, page)),
    parentOf: (pet: PetModel) => pet.categoryId,
  },
  categories: {
    rows: (world) => world.categories as never[],
    orders: { ID: byId, NAME: byName },
    filters: { ids: byIds, name: byText },
    all: (page) => categories.list(database, {}, page),
    list: (filter, page) => one(categories.list(database, filter, page)),
  },
  orders: {
    rows: (world) => world.orders as never[],
    orders: { ID: byId, SHIP_DATE: byShipDate },
    filters: orderFilters,
    all: (page) => orders.list(database, {}, page),
    list: (filter, page) => one(orders.list(database, filter, page)),
  },
  'orders of pets': {
    rows: (world) => world.orders as never[],
    orders: { ID: byId, SHIP_DATE: byShipDate },
    filters: orderFilters,
    all: (page) => orders.list(database, {}, page),
    list: (filter, page, parents) => ofEach(parents, orders.listByPet(database, parents, filter, page)),
    parentOf: (order: OrderModel) => order.petId,
  },
  inventory: {
    rows: (world) => world.pets.filter((pet) => pet.quantity !== null) as never[],
    orders: { PET_ID: byId, QUANTITY: byQuantity },
    filters: {
      petIds: byIds,
      statuses: petFilters.statuses,
      maxQuantity: {
        values: fc.constantFrom(-1, 0, 1, 2, 3, 2147483647),
        passes: (pet: PetModel, value: number) => (pet.quantity ?? 0) <= value,
      },
    },
    all: (page) => stock.list(database, {}, page),
    list: (filter, page) => one(stock.list(database, filter, page)),
  },
};

const RUNS = runs(25, 80);

/**
 * So many rows that a small page is not found by walking alone: 'émi' is in few names, all at the end; 'rex' in many, none
 * of them at either end by name, and none begins with it; many begin with 'Aaron' and 'zoe', far from each other.
 */
const LARGE: World = {
  categories: Array.from({ length: 3000 }, (_, i) => ({ id: i + 1, name: nameOf(i) })),
  pets: Array.from({ length: 3000 }, (_, i) => ({
    id: i + 1,
    name: nameOf(i),
    status: i % 100 === 7 ? 'pending' : i > 1500 ? 'sold' : 'available',
    categoryId: i % 500 === 3 ? 3 : 1 + (i % 2),
    quantity: i % 7 === 0 ? null : i < 2900 ? 2 + (i % 5) : i % 3,
  })),
  orders: Array.from({ length: 3000 }, (_, i) => ({
    id: i + 1,
    petId: i % 11 === 0 ? null : 1 + (i % 4),
    shipDate: i % 3 === 0 ? null : new Date(Date.UTC(2026, 0, 1, 0, i % 900)).toISOString(),
    complete: i % 250 === 9,
  })),
};

function idOf(node: { id?: bigint; petId?: bigint }): number {
  return Number(node.id ?? node.petId);
}

function nameOf(i: number): string {
  if (i > 2990) return `Émile ${i}`;
  if (i % 150 === 5) return `a b ${i}`;
  return i % 3 === 0 ? `M. Rex ${i}` : `${i % 2 ? 'Aaron' : 'zoe'} ${i}`;
}
const PARENTS = [1n, 2n, 3n, 4n];

describe.each(Object.entries(MODELS))('the list of %s', (_name, model) => {
  const filters = fc.record(
    Object.fromEntries(Object.entries(model.filters).map(([name, { values }]) => [name, values])),
    { requiredKeys: [] },
  );
  const page = fc.record({
    order: fc.constantFrom(...Object.keys(model.orders)),
    descending: fc.boolean(),
    isBackward: fc.boolean(),
    size: fc.integer({ min: 1, max: 12 }),
    from: fc.option(fc.nat(30)),
    to: fc.option(fc.nat(30)),
  });

  test('has the same rows and total as in memory, with any filters, in any order, between any cursors', async () => {
    let world: World | undefined;
    const look = async (
      next: World,
      filter: Record<string, unknown>,
      { order, descending, isBackward, size, from, to }: Asked,
    ) => {
      if (world !== next) await fill(database, next);
      world = next;
      const all: Row[] = [...model.rows(next)].sort((a: Row, b: Row) => model.orders[order]?.(a, b) || byId(a, b));
      if (descending) all.reverse();
      const sorted = { order, descending };
      const cursors = (await model.all({ ...sorted, first: 100 })).edges.map(({ cursor }) => cursor);
      const bounds = { after: cursors[from ?? -1], before: cursors[to ?? -1] };
      const between = all.slice(bounds.after ? (from ?? 0) + 1 : 0, bounds.before ? (to ?? 0) : undefined);

      const pages = await model.list(
        filter,
        { ...sorted, ...bounds, ...(isBackward ? { last: size } : { first: size }) },
        PARENTS,
      );
      for (const [i, connection] of pages.entries()) {
        const passes = (row: Row) =>
          Object.entries(filter).every(
            ([name, value]) => value == null || model.filters[name]?.passes(row as never, value as never),
          ) &&
          (!model.parentOf || model.parentOf(row as never) === Number(PARENTS[i]));
        const matching = between.filter(passes);
        const expected = isBackward ? matching.slice(-size) : matching.slice(0, size);
        expect(connection.edges.map(({ node }) => idOf(node))).toEqual(expected.map(({ id }) => id));
        const isMore = matching.length > size;
        expect(connection.pageInfo[isBackward ? 'hasPreviousPage' : 'hasNextPage']).toBe(isMore);
        expect(await connection.totalCount()).toBe(all.filter(passes).length);
        expect(await connection.totalCountRelation()).toBe('EQUAL');
      }
    };
    for (const shop of [...fc.sample(worlds, { numRuns: 3, seed: 7 }), LARGE])
      await fc.assert(
        fc.asyncProperty(filters, page, (filter, asked) => look(shop, filter, asked)),
        RUNS,
      );
  });
});

interface Asked {
  order: string;
  descending: boolean;
  isBackward: boolean;
  size: number;
  from: number | null;
  to: number | null;
}

test('a total is counted up to 10,000, and says if there are more', async () => {
  await fill(database, { categories: [], pets: [], orders: [] });
  const insert = (count: number) =>
    database.query(statement('insert into orders (complete) select false from generate_series(1, $1::int)'), [count]);
  const total = async (filter: object) => {
    const list = await orders.list(database, filter, { order: 'ID', descending: false });
    return [await list.totalCount(), await list.totalCountRelation()];
  };
  await insert(10_000);
  expect(await total({})).toEqual([10_000, 'EQUAL']);
  await insert(1);
  expect(await total({})).toEqual([10_000, 'AT_LEAST']);
  expect(await total({ complete: false })).toEqual([10_000, 'AT_LEAST']);
  expect(await total({ complete: true })).toEqual([0, 'EQUAL']);
});
