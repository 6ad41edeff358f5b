import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Session } from '../database/database';
import { statement } from '../database/statement';
import type { Samples } from '../rest/domain';

/** Maximum number of pets in a sample. */
export const MAX_SAMPLE_PETS = 1_000_000;

const BATCH = 10_000;

/**
 * The names of categories and pets in samples. A store with few categories uses only the start of the list. The path is
 * valid from `src` and `dist`.
 */
const NAMES: {
  readonly categories: readonly (readonly [name: string, description: string])[];
  readonly petNames: readonly string[];
  readonly secondNames: readonly string[];
} = JSON.parse(readFileSync(join(__dirname, '..', '..', 'prisma', 'sample-names.json'), 'utf8'));

/**
 * SQL for a pseudo-random number in [0, 1). It is always the same for the same row and attribute.
 * @param row SQL for the row's number.
 * @param attribute the number of an attribute. Results for different attributes are independent.
 */
function draw(row: string, attribute: number): string {
  return `((hashint8extended(${row}, ${attribute}) & 4294967295) / 4294967296.0::float8)`;
}

/**
 * SQL for a pseudo-random element of an array.
 * @param skew 1 for a uniform choice. A higher number favours the first elements.
 */
function pick(array: string, row: string, attribute: number, skew = 1): string {
  return `(${array})[1 + floor(${draw(row, attribute)} ^ ${skew} * cardinality(${array}))::int]`;
}

const IS_EMPTY = statement('select not exists (select from categories) and not exists (select from orders) as empty');

const CATEGORIES = statement(
  'insert into categories (name, description) select * from unnest($1::text[], $2::text[]) returning id',
);

/** Inserts pets, and inventory entries for three fifths of them. The quantity for sold pets is 0. */
const PETS = statement(`with added as (
  insert into pets (name, status, category_id)
  select
    ${pick('$4::text[]', 'i', 1)} || case when ${draw('i', 2)} < 0.15 then ' ' || ${pick('$5::text[]', 'i', 3)} else '' end,
    (case when ${draw('i', 4)} < 0.68 then 'available' when ${draw('i', 4)} < 0.82 then 'pending' else 'sold' end)::pet_status,
    ${pick('$3::bigint[]', 'i', 5, 2)}
  from generate_series($1::bigint, $2::bigint) as i order by i
  returning id, status
), stocked as (
  insert into inventory (pet_id, quantity)
  select id, case status when 'sold' then 0 else floor(${draw('id', 6)} ^ 2 * 40) end
  from added where ${draw('id', 7)} < 0.6
  returning pet_id
)
select min(id) as first, (select count(*) from stocked)::int as stocked from added`);

/**
 * Inserts orders. Complete orders were shipped in the half year before 2026-11-21. Other orders have a ship date in the
 * weeks after this day, or no ship date.
 */
const ORDERS = statement(`insert into orders (pet_id, quantity, ship_date, complete, reserved)
select pets.id, drawn.quantity, ship_date, complete, case when inventory.pet_id is null then 0 else drawn.quantity end
from generate_series($1::bigint, $2::bigint) as i
cross join lateral (select
  1 + floor(${draw('i', 8)} ^ 3 * 5)::int as quantity,
  ${draw('i', 9)} < 0.65 as complete,
  timestamptz '2026-11-21 08:00Z' + floor(${draw('i', 10)} * 40) * interval '15 minutes' as opening
) as drawn
cross join lateral (select case
  when complete then opening - (1 + floor(${draw('i', 11)} * 180)) * interval '24 hours'
  when ${draw('i', 12)} < 0.75 then opening + (1 + floor(${draw('i', 11)} * 42)) * interval '24 hours'
end as ship_date) as shipped
join pets on pets.id = $3::bigint + floor(${draw('i', 13)} * $4::bigint)::bigint
left join inventory on inventory.pet_id = pets.id
order by i`);

const ANALYZE = statement('analyze categories, pets, orders, inventory');

/** The numbers of categories and orders in a sample with this many pets. */
export function sampleSize(pets: number): { categories: number; orders: number } {
  const categories = Math.max(1, Math.round(Math.sqrt(pets) / 2));
  return { categories: Math.min(categories, NAMES.categories.length), orders: Math.floor(pets / 2) };
}

/**
 * Fills an empty database with a realistic store. The same number of pets always gives the same store. The quantities in the
 * inventory are the units that remain after all orders of the sample. Rows are inserted in batches, so an interrupted load
 * leaves an incomplete store.
 * @param pets the number of pets, 1 to {@link MAX_SAMPLE_PETS}.
 * @param onProgress called after every batch with the number of pets and orders inserted so far and in total.
 * @returns the number of rows per table.
 * @throws Error with a one-line message if the database is not empty.
 */
export async function loadSampleData(
  session: Session,
  pets: number,
  onProgress: (done: number, total: number) => void = () => undefined,
): Promise<Readonly<Record<'categories' | 'pets' | 'orders' | 'inventory', number>>> {
  const [found] = await session.query<{ empty: boolean }>(IS_EMPTY, []);
  if (!found?.empty)
    throw new Error('the database is not empty; sample data can only be loaded into an empty database.');

  const size = sampleSize(pets);
  const total = pets + size.orders;
  const kinds = NAMES.categories.slice(0, size.categories);
  const columns = [kinds.map(([name]) => name), kinds.map(([, description]) => description)];
  const categoryIds = (await session.query<{ id: bigint }>(CATEGORIES, columns)).map(({ id }) => id);

  let firstPet: bigint | undefined;
  let inventory = 0;
  for (const [from, to] of batches(pets)) {
    const values = [from, to, categoryIds, NAMES.petNames, NAMES.secondNames];
    const [added] = await session.query<{ first: bigint; stocked: number }>(PETS, values);
    firstPet ??= added?.first;
    inventory += added?.stocked ?? 0;
    onProgress(to, total);
  }
  for (const [from, to] of batches(size.orders)) {
    await session.query(ORDERS, [from, to, firstPet, pets]);
    onProgress(pets + to, total);
  }
  await session.query(ANALYZE, []);
  return { ...size, pets, inventory };
}

/** The sample data that `npm run seed` loads. */
export const SAMPLES: Samples = {
  what: 'categories, pets, orders and stock',
  unit: 'pets',
  default: 1000,
  max: MAX_SAMPLE_PETS,
  scaled: 'orders and categories are scaled to match',
  load: async (session, pets, onProgress) => {
    const { categories, orders, inventory } = await loadSampleData(session, pets, onProgress);
    return { pets, categories, orders, 'stock entries': inventory };
  },
};

/** Splits the numbers from 1 to `count` into ranges of at most `BATCH` numbers. */
function* batches(count: number): Iterable<[from: number, to: number]> {
  for (let from = 1; from <= count; from += BATCH) yield [from, Math.min(from + BATCH - 1, count)];
}
