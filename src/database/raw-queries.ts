import { createHash } from 'node:crypto';
import type { Session, Written } from './database';
import type { Order, Pet } from './generated/client';
import { COLUMNS } from './generated/columns';
import { statement } from './statement';

/**
 * What is written without Prisma's models; everything else is written through them.
 * - {@link insertPet} and {@link insertOrder}, the most frequent writes, are one prepared statement each. That saves
 *   Prisma's work in this process, and the order's transaction its round trips (measured: see bench/README.md).
 * - Row locks and advisory locks have no form in Prisma.
 */

const { id: petId, ...petColumns } = COLUMNS.pets;
const NEW_PET = newRow(petColumns);
const INSERT_PET = statement(
  `insert into pets (${NEW_PET.names}) values (${NEW_PET.values}) returning ${petId.sql}, ${NEW_PET.returned}`,
);

const { id: orderId, reserved, ...orderColumns } = COLUMNS.orders;
const NEW_ORDER = newRow(orderColumns);
const { petId: OF_PET, quantity: UNITS } = NEW_ORDER.parameters;
// The check of the stock and its update are one statement: the update's row lock makes the next buyer of the same pet
// wait and then check the remaining quantity.
const INSERT_ORDER = statement(`with taken as (
  update inventory set quantity = quantity - ${UNITS} where pet_id = ${OF_PET} and quantity >= ${UNITS} returning pet_id
)
insert into orders (${NEW_ORDER.names}, reserved)
select ${NEW_ORDER.values}, case when exists (select from taken) then ${UNITS} else 0 end
where exists (select from taken)
   or ${OF_PET} is null or ${UNITS} is null
   or not exists (select from inventory where pet_id = ${OF_PET})
returning ${orderId.sql}, ${NEW_ORDER.returned}, ${reserved.sql}`);

// Deleting a pet must exclude new orders and stock of it; nothing that refers to the others need wait.
const LOCK_ROWS = {
  category: statement('select id from categories where id = any($1::bigint[]) order by id for no key update'),
  pet: statement('select id from pets where id = any($1::bigint[]) order by id for update'),
  order: statement('select id from orders where id = any($1::bigint[]) order by id for no key update'),
  inventory: statement(
    'select pet_id as id from inventory where pet_id = any($1::bigint[]) order by pet_id for no key update',
  ),
};

// Arbitrary numbers, the same on all instances; the migrations use 72707369. Prisma cannot read `void`.
const GLOBAL_LOCKS = { apiKeys: 72707370n, cleaning: 72707372n };
const LOCK = statement('select pg_advisory_xact_lock($1::bigint)::text');
const TRY_LOCK = statement('select pg_try_advisory_xact_lock($1::bigint) as "isMine"');

/** Inserts a pet. Fails on the foreign key if the category does not exist. @param written see {@link Session.write}. */
export async function insertPet(session: Session, pet: Omit<Pet, 'id'>, written: Written<Pet>): Promise<Pet> {
  const values = NEW_PET.fields.map((field) => pet[field]);
  const [inserted] = await session.write<Pet>(INSERT_PET, values, written);
  return inserted as Pet;
}

/**
 * Inserts the order and takes its units from tracked stock, or does neither: `undefined` if too few are left.
 * @param written see {@link Session.write}.
 */
export async function insertOrder(
  session: Session,
  order: Omit<Order, 'id' | 'reserved'>,
  written: Written<Order>,
): Promise<Order | undefined> {
  const values = NEW_ORDER.fields.map((field) => order[field]);
  const insert = () => session.write<Order>(INSERT_ORDER, values, written);
  const [placed] = await insert();
  // The row that was short of stock, or its pet, may have been deleted while the statement waited for the lock.
  return placed ?? (await insert())[0];
}

/**
 * Locks rows until the transaction ends, in the order of their ids: two such calls never deadlock. Who needs rows of
 * several tables locks an order before stock, and stock before a pet.
 * @returns the ids of the rows there are. Others may appear at once, which are not locked.
 */
export async function lockRows(
  transaction: Session,
  model: keyof typeof LOCK_ROWS,
  ids: readonly bigint[],
): Promise<bigint[]> {
  const rows = await transaction.query<{ id: bigint }>(LOCK_ROWS[model], [ids]);
  return rows.map(({ id }) => id);
}

/** Locks a row until the transaction ends. @returns whether there is one. */
export async function lockRow(transaction: Session, model: keyof typeof LOCK_ROWS, id: bigint): Promise<boolean> {
  return (await lockRows(transaction, model, [id])).length > 0;
}

/** What at most one transaction on all instances does at a time. */
export type Exclusive = keyof typeof GLOBAL_LOCKS;

/** Waits until no other transaction does the same, and excludes others until this one ends. */
export async function lock(transaction: Session, what: Exclusive): Promise<void> {
  await transaction.query(LOCK, [GLOBAL_LOCKS[what]]);
}

/**
 * Locks it, or any text, until the transaction ends in any way.
 * @returns false, without waiting, if another transaction holds the lock.
 */
export async function tryLock(transaction: Session, what: Exclusive | { text: string }): Promise<boolean> {
  const number = typeof what === 'string' ? GLOBAL_LOCKS[what] : hashOf(what.text);
  const [locked] = await transaction.query<{ isMine: boolean }>(TRY_LOCK, [number]);
  return locked?.isMine === true;
}

/** A hash that nobody can target; texts that collide would only wait for each other. */
function hashOf(text: string): bigint {
  return createHash('sha256').update(text).digest().readBigInt64BE();
}

/** The parts of a statement that inserts a row of these columns, whose values are its parameters in the order of `fields`. */
function newRow<Columns extends Record<string, { readonly sql: string; readonly type: string }>>(columns: Columns) {
  const fields = Object.keys(columns) as (keyof Columns & string)[];
  const entries = fields.map((field, i) => [field, `$${i + 1}::${columns[field]?.type}`]);
  const parameters: { readonly [field in keyof Columns]: string } = Object.fromEntries(entries);
  return {
    fields,
    parameters,
    names: fields.map((field) => nameOf(columns[field] as Columns[string])).join(', '),
    values: fields.map((field) => parameters[field]).join(', '),
    returned: fields.map((field) => `${columns[field]?.sql} as "${field}"`).join(', '),
  };
}

/** `category_id` of `pets.category_id` */
function nameOf({ sql }: { readonly sql: string }): string {
  return sql.slice(sql.indexOf('.') + 1);
}
