import type { Session, Statement } from '../database';
import { statement } from '../statement';
import { SampleStore } from './sample-store';

/** Maximum number of pets in a sample. */
export const MAX_SAMPLE_PETS = 1_000_000;

/** The number of rows loaded. */
export interface SampleSize {
  readonly categories: number;
  readonly pets: number;
  readonly orders: number;
  readonly inventory: number;
}

const BATCH = 2_000;

const IS_EMPTY = statement(
  'select not exists (select from categories) and not exists (select from orders) as empty',
);
const CATEGORIES = statement(
  'insert into categories (name, description) select * from unnest($1::text[], $2::text[]) returning id',
);
const PETS = statement(
  'insert into pets (name, status, category_id) select * from unnest($1::text[], $2::text[]::pet_status[], $3::bigint[]) returning id',
);
const ORDERS = statement(
  'insert into orders (pet_id, quantity, ship_date, complete, reserved) ' +
    'select * from unnest($1::bigint[], $2::int[], $3::timestamptz[], $4::boolean[], $5::int[])',
);
const INVENTORY = statement(
  'insert into inventory (pet_id, quantity) select * from unnest($1::bigint[], $2::int[])',
);
const ANALYZE = statement('analyze categories, pets, orders, inventory');

/**
 * Fills an empty database with a realistic store of `pets` pets (1 to {@link MAX_SAMPLE_PETS}); the same number always
 * yields the same store. Stock is what remains after its orders. Rows are inserted in batches, so an interrupted load
 * leaves a partial store.
 * @param onProgress called after every batch with the number of rows inserted so far and in total.
 * @throws Error with a one-line message if the database is not empty.
 */
export async function loadSampleData(
  session: Session,
  pets: number,
  onProgress: (done: number, total: number) => void = () => undefined,
): Promise<SampleSize> {
  const [found] = await session.query<{ empty: boolean }>(IS_EMPTY, []);
  if (!found?.empty)
    throw new Error('the database is not empty; sample data can only be loaded into an empty one.');

  const load = new Load(session, new SampleStore(pets), onProgress);
  const categoryIds = await load.categories();
  const petIds = await load.pets(categoryIds);
  await load.orders(petIds);
  await load.inventory(petIds);
  await session.query(ANALYZE, []);
  return load.size;
}

/** A store being loaded. Orders are inserted before stock, because stock is what they leave over. */
class Load {
  readonly size: SampleSize;
  private readonly total: number;
  private done = 0;

  constructor(
    private readonly session: Session,
    private readonly store: SampleStore,
    private readonly onProgress: (done: number, total: number) => void,
  ) {
    const { categories, petCount: pets, orderCount: orders, stock } = store;
    const inventory = stock.reduce((count, units) => count + (units < 0 ? 0 : 1), 0);
    this.size = { categories: categories.length, pets, orders, inventory };
    this.total = categories.length + pets + orders + inventory;
  }

  categories(): Promise<bigint[]> {
    return this.insert(CATEGORIES, this.store.categories);
  }

  async pets(categoryIds: readonly bigint[]): Promise<bigint[]> {
    const ids: bigint[] = [];
    for (const indexes of batches(this.size.pets)) {
      const batch = indexes.map((index) => this.store.pet(index));
      const rows = batch.map(({ name, status, category }) => [name, status, categoryIds[category]]);
      ids.push(...(await this.insert(PETS, rows)));
    }
    return ids;
  }

  async orders(petIds: readonly bigint[]): Promise<void> {
    for (const indexes of batches(this.size.orders)) {
      const batch = indexes.map((index) => this.store.order(index));
      const rows = batch.map(({ pet, quantity, shipDate, complete, reserved }) => [
        pet === null ? null : petIds[pet],
        quantity,
        shipDate?.toISOString() ?? null,
        complete,
        reserved,
      ]);
      await this.insert(ORDERS, rows);
    }
  }

  async inventory(petIds: readonly bigint[]): Promise<void> {
    for (const indexes of batches(this.size.pets)) {
      const rows = indexes.map((index) => [petIds[index], this.store.stock[index] ?? -1] as const);
      const tracked = rows.filter(([, units]) => units >= 0);
      await this.insert(INVENTORY, tracked);
    }
  }

  /** @returns the ids of the rows, in order. */
  private async insert(into: Statement, batch: readonly (readonly unknown[])[]): Promise<bigint[]> {
    if (!batch.length) return [];
    const rows = await this.session.query<{ id: bigint }>(into, transpose(batch));
    this.done += batch.length;
    this.onProgress(this.done, this.total);
    return rows.map(({ id }) => id).sort(ascending);
  }
}

function* batches(count: number): Generator<number[]> {
  for (let start = 0; start < count; start += BATCH) {
    yield Array.from({ length: Math.min(BATCH, count - start) }, (_, index) => start + index);
  }
}

/** Turns a non-empty array of rows into column arrays for `unnest`. */
function transpose(rows: readonly (readonly unknown[])[]): unknown[][] {
  return (rows[0] ?? []).map((_, column) => rows.map((row) => row[column]));
}

function ascending(a: bigint, b: bigint): number {
  return a < b ? -1 : 1;
}
