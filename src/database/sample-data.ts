import type { Session } from './database';
import { SampleStore } from './sample-store';
import { statement } from './statement';

/** How many pets a sample can have at most. */
export const MAX_SAMPLE_PETS = 1_000_000;

/** How much was loaded. */
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
 * Fills an empty database with a believable store of `pets` pets (1 to {@link MAX_SAMPLE_PETS}): the same number, the same
 * store. Its stock is what its orders have left. Rows go in batch by batch, so a load that is cut short leaves its part.
 * @param onProgress hears of every batch: how many rows are in, of how many.
 * @throws Error in one line when the database is not empty.
 */
export async function loadSampleData(
  session: Session,
  pets: number,
  onProgress: (done: number, total: number) => void = () => undefined,
): Promise<SampleSize> {
  const [found] = await session.query<{ empty: boolean }>(IS_EMPTY, []);
  if (!found?.empty) throw new Error('the database is not empty; sample data goes into an empty one only.');

  const store = new SampleStore(pets);
  const tracked = store.stock.reduce((count, units) => count + (units < 0 ? 0 : 1), 0);
  const size = { categories: store.categories.length, pets, orders: store.orderCount, inventory: tracked };
  const total = size.categories + size.pets + size.orders + size.inventory;
  let done = 0;
  const insert = async (into: typeof PETS, columns: unknown[][]): Promise<bigint[]> => {
    const rows = await session.query<{ id: bigint }>(into, columns);
    done += columns[0]?.length ?? 0;
    onProgress(done, total);
    return rows.map(({ id }) => id).sort(ascending);
  };

  const categoryIds = await insert(CATEGORIES, transpose(store.categories));
  const petIds: bigint[] = [];
  for (const indexes of batches(pets)) {
    const rows = indexes.map((index) => store.pet(index));
    const columns = rows.map(({ name, status, category }) => [name, status, categoryIds[category]]);
    petIds.push(...(await insert(PETS, transpose(columns))));
  }
  for (const indexes of batches(store.orderCount)) {
    const rows = indexes.map((index) => store.order(index));
    const columns = rows.map(({ pet, quantity, shipDate, complete, reserved }) => [
      pet === null ? null : petIds[pet],
      quantity,
      shipDate && shipDate.toISOString(),
      complete,
      reserved,
    ]);
    await insert(ORDERS, transpose(columns));
  }
  for (const indexes of batches(pets)) {
    const rows = indexes.map((index) => [petIds[index], store.stock[index] ?? -1] as const);
    await insert(INVENTORY, transpose(rows.filter(([, units]) => units >= 0)));
  }
  await session.query(ANALYZE, []);
  return size;
}

function* batches(count: number): Generator<number[]> {
  for (let start = 0; start < count; start += BATCH) {
    yield Array.from({ length: Math.min(BATCH, count - start) }, (_, index) => start + index);
  }
}

/** Rows as columns: arrays that `unnest` takes. */
function transpose(rows: readonly (readonly unknown[])[]): unknown[][] {
  return (rows[0] ?? []).map((_, column) => rows.map((row) => row[column]));
}

function ascending(a: bigint, b: bigint): number {
  return a < b ? -1 : 1;
}
