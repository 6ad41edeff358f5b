import fc from 'fast-check';
import type { Database } from '../../src/database/database';
import { PetStatus } from '../../src/database/generated/enums';
import { statement } from '../../src/database/statement';
import { emptyDatabase } from './database';

export const STATUSES = Object.values(PetStatus);

/** A shop in which many rows have equal names, dates or quantities. Ids are 1, 2, … in array order. */
export interface World {
  categories: { id: number; name: string }[];
  pets: {
    id: number;
    name: string;
    status: PetStatus;
    categoryId: number;
    quantity: number | null;
  }[];
  orders: { id: number; petId: number | null; shipDate: string | null; complete: boolean }[];
}

// `～` (U+FF5E) sorts before the emoji by code point, but after it by UTF-16 code unit.
const name = fc.constantFrom('Rex', 'rex', 'Max', 'Émile', 'a b', '～', '🐕', 'a', 'aa');
const shipDate = fc.constantFrom('2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.001Z', '0099-12-31T23:59:59.999Z');

const withIds = <T extends object>(rows: T[]) => rows.map((row, index) => ({ id: index + 1, ...row }));

export const worlds: fc.Arbitrary<World> = fc
  .record({
    categories: fc.array(fc.record({ name }), { minLength: 3, maxLength: 12 }),
    pets: fc.array(
      fc.record({
        name,
        status: fc.constantFrom(...STATUSES),
        categoryId: fc.integer({ min: 1, max: 3 }),
        quantity: fc.option(fc.integer({ min: 0, max: 3 })),
      }),
      { minLength: 2, maxLength: 40 },
    ),
    orders: fc.array(
      fc.record({
        petId: fc.option(fc.integer({ min: 1, max: 2 })),
        shipDate: fc.option(shipDate),
        complete: fc.boolean(),
      }),
      { maxLength: 40 },
    ),
  })
  .map(({ categories, pets, orders }) => ({
    categories: withIds(categories),
    pets: withIds(pets),
    orders: withIds(orders),
  }));

/** Replaces the shop's rows with this world. */
export async function fill(database: Database, { categories, pets, orders }: World): Promise<void> {
  await emptyDatabase(database);
  const insert = (sql: string, ...columns: unknown[][]) => database.serviceSession().query(statement(sql), columns);
  await insert(
    'insert into categories (name) select * from unnest($1::text[])',
    categories.map((category) => category.name),
  );
  await insert(
    'insert into pets (name, status, category_id) select n, s::pet_status, c from unnest($1::text[], $2::text[], $3::bigint[]) as t(n, s, c)',
    pets.map((pet) => pet.name),
    pets.map((pet) => pet.status),
    pets.map((pet) => pet.categoryId),
  );
  const tracked = pets.filter((pet) => pet.quantity !== null);
  await insert(
    'insert into inventory (pet_id, quantity) select * from unnest($1::bigint[], $2::int[])',
    tracked.map((pet) => pet.id),
    tracked.map((pet) => pet.quantity),
  );
  await insert(
    'insert into orders (pet_id, ship_date, complete) select * from unnest($1::bigint[], $2::timestamptz[], $3::boolean[])',
    orders.map((order) => order.petId),
    orders.map((order) => order.shipDate),
    orders.map((order) => order.complete),
  );
}
