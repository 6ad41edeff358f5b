import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Session, Statement } from '../database/database';
import type { PetStatus } from '../database/generated/enums';
import { statement } from '../database/statement';

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

/** Names, the first categories for a small store; `src` and `dist` are both beside `prisma`. */
const NAMES: {
  readonly categories: readonly (readonly [name: string, description: string])[];
  readonly petNames: readonly string[];
  readonly secondNames: readonly string[];
} = JSON.parse(readFileSync(join(__dirname, '..', '..', 'prisma', 'sample-names.json'), 'utf8'));

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** The sample's current date: complete orders ship before it, the others after. */
const TODAY = Date.UTC(2026, 10, 21);

const DRAW = {
  name: draws('name'),
  hasSecondName: draws('has second name'),
  secondName: draws('second name'),
  status: draws('status'),
  category: draws('category'),
  tracked: draws('tracked'),
  stock: draws('stock'),
  pet: draws('pet'),
  quantity: draws('quantity'),
  complete: draws('complete'),
  undated: draws('undated'),
  day: draws('day'),
  time: draws('time'),
};

/**
 * A realistic store with a given number of pets; the same number always yields the same store. It has half as many
 * orders, and as many categories as a store of its size would have, up to 50.
 */
export class SampleStore {
  readonly categories: typeof NAMES.categories;
  readonly orderCount: number;
  /** Remaining units of each pet after the orders made so far; -1 if its stock is not tracked. */
  readonly stock: Int32Array;

  constructor(readonly petCount: number) {
    this.categories = NAMES.categories.slice(0, Math.max(1, Math.round(Math.sqrt(petCount) / 2)));
    this.orderCount = Math.floor(petCount / 2);
    this.stock = Int32Array.from({ length: petCount }, (_, index) => initialStock(index));
  }

  /** @returns `category`: its index, from 0. */
  pet(index: number): { name: string; status: PetStatus; category: number } {
    const second = DRAW.hasSecondName(index) < 0.15 ? ` ${pick(NAMES.secondNames, DRAW.secondName(index))}` : '';
    return {
      name: pick(NAMES.petNames, DRAW.name(index)) + second,
      status: statusOf(index),
      // Squaring favours the first categories: some kinds are more popular than others.
      category: Math.floor(DRAW.category(index) ** 2 * this.categories.length),
    };
  }

  /**
   * Makes an order and takes its units from stock: call it once per index, in order.
   * @returns `pet`: the index of its pet, from 0, or null if the store is sold out; `reserved`: the units it takes, 0 if
   * the pet's stock is not tracked.
   */
  order(index: number) {
    const quantity = 1 + Math.floor(DRAW.quantity(index) ** 3 * 5);
    const complete = DRAW.complete(index) < 0.65;
    const shipDate = shipDateOf(index, complete);
    const pet = this.petFor(index, quantity);
    const left = pet === null ? -1 : (this.stock[pet] ?? -1);
    const reserved = left < 0 ? 0 : quantity;
    if (pet !== null && reserved) this.stock[pet] = left - reserved;
    return { pet, quantity, shipDate, complete, reserved };
  }

  /** The pet that is drawn or, if it lacks stock, the next one that has enough. */
  private petFor(order: number, quantity: number): number | null {
    const start = Math.floor(DRAW.pet(order) * this.petCount);
    for (let step = 0; step < this.petCount; step++) {
      const pet = (start + step) % this.petCount;
      const left = this.stock[pet] ?? -1;
      if (left < 0 || left >= quantity) return pet;
    }
    return null;
  }
}

function statusOf(pet: number): PetStatus {
  const drawn = DRAW.status(pet);
  if (drawn < 0.68) return 'available';
  return drawn < 0.82 ? 'pending' : 'sold';
}

function initialStock(pet: number): number {
  if (DRAW.tracked(pet) > 0.6) return -1;
  return statusOf(pet) === 'sold' ? 0 : Math.floor(DRAW.stock(pet) ** 2 * 40);
}

/** Within opening hours; some incomplete orders have no date yet. */
function shipDateOf(order: number, complete: boolean): Date | null {
  if (!complete && DRAW.undated(order) < 0.25) return null;
  const days = Math.floor(DRAW.day(order) * (complete ? -180 : 42));
  const quarters = 32 + Math.floor(DRAW.time(order) * 40);
  return new Date(TODAY + days * DAY + (complete ? 0 : DAY) + (quarters * HOUR) / 4);
}

function pick(list: readonly string[], drawn: number): string {
  return list[Math.floor(drawn * list.length)] ?? '';
}

/** Pseudo-random numbers in [0, 1), fixed for each row and independent across rows and attributes. */
function draws(attribute: string): (index: number) => number {
  const salt = [...attribute].reduce((hash, letter) => mix(hash ^ letter.charCodeAt(0)), 0x9e3779b9);
  return (index) => mix(mix(index + 1) ^ salt) / 2 ** 32;
}

/** The finalizer of MurmurHash3. */
function mix(value: number): number {
  let hash = value | 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
