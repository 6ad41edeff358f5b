import type { Session, Statement } from '../database/database';
import { statement } from '../database/statement';
import { SampleStore } from './sample-store';

/** Maximum number of pets in a sample. */
export const MAX_SAMPLE_PETS = 1_000_000;

const BATCH = 2_000;

const IS_EMPTY = statement('select not exists (select from categories) and not exists (select from orders) as empty');
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
const INVENTORY = statement('insert into inventory (pet_id, quantity) select * from unnest($1::bigint[], $2::int[])');
const ANALYZE = statement('analyze categories, pets, orders, inventory');

/**
 * Fills an empty database with a realistic store of `pets` pets (1 to {@link MAX_SAMPLE_PETS}); the same number always
 * yields the same store. Stock is what remains after its orders. Rows are inserted in batches, so an interrupted load
 * leaves a partial store.
 * @returns the numbers of rows.
 * @param onProgress called after every batch with the number of rows inserted so far and in total.
 * @throws Error with a one-line message if the database is not empty.
 */
export async function loadSampleData(
  session: Session,
  pets: number,
  onProgress: (done: number, total: number) => void = () => undefined,
): Promise<Readonly<Record<'categories' | 'pets' | 'orders' | 'inventory', number>>> {
  const [found] = await session.query<{ empty: boolean }>(IS_EMPTY, []);
  if (!found?.empty) throw new Error('the database is not empty; sample data can only be loaded into an empty one.');

  const store = new SampleStore(pets);
  const size = {
    categories: store.categories.length,
    pets,
    orders: store.orderCount,
    inventory: store.stock.reduce((count, units) => count + (units < 0 ? 0 : 1), 0),
  };
  const total = size.categories + size.pets + size.orders + size.inventory;
  let done = 0;

  /** @returns the ids of the rows, in order, if the statement returns any. */
  const insert = async (into: Statement, count: number, rowOf: (index: number) => readonly unknown[]) => {
    const ids: bigint[] = [];
    for (let start = 0; start < count; start += BATCH) {
      const length = Math.min(BATCH, count - start);
      const rows = Array.from({ length }, (_, index) => rowOf(start + index));
      const inserted = await session.query<{ id: bigint }>(into, transpose(rows));
      ids.push(...inserted.map(({ id }) => id).sort(ascending));
      done += length;
      onProgress(done, total);
    }
    return ids;
  };

  const categoryIds = await insert(CATEGORIES, size.categories, (i) => store.categories[i] ?? []);
  const petIds = await insert(PETS, pets, (i) => {
    const { name, status, category } = store.pet(i);
    return [name, status, categoryIds[category]];
  });
  await insert(ORDERS, size.orders, (i) => {
    const { pet, quantity, shipDate, complete, reserved } = store.order(i);
    return [pet === null ? null : petIds[pet], quantity, shipDate?.toISOString() ?? null, complete, reserved];
  });
  // After the orders, which take from it.
  const tracked = petIds.flatMap((id, i) => ((store.stock[i] ?? -1) < 0 ? [] : [[id, store.stock[i]]]));
  await insert(INVENTORY, tracked.length, (i) => tracked[i] ?? []);
  await session.query(ANALYZE, []);
  return size;
}

/** Turns a non-empty array of rows into column arrays for `unnest`. */
function transpose(rows: readonly (readonly unknown[])[]): unknown[][] {
  return (rows[0] ?? []).map((_, column) => rows.map((row) => row[column]));
}

function ascending(a: bigint, b: bigint): number {
  return a < b ? -1 : 1;
}
