import type { Session } from './database';
import { statement } from './statement';
import type { InventoryRow, OrderRow, PetRow } from './tables';

const MAX_QUANTITY = 2147483647;
const ORDER = 'id, pet_id as "petId", quantity, ship_date as "shipDate", complete';

// The check of the stock and its update are one statement: the update's row lock makes the next buyer of the same pet
// wait and then check the remaining quantity.
const PLACE = statement(`with taken as (
  update inventory set quantity = quantity - $2::int where pet_id = $1::bigint and quantity >= $2::int returning pet_id
)
insert into orders (pet_id, quantity, ship_date, complete, reserved)
select $1::bigint, $2::int, $3::timestamptz, $4::boolean, case when exists (select from taken) then $2::int else 0 end
where exists (select from taken)
   or $1::bigint is null or $2::int is null
   or not exists (select from inventory where pet_id = $1::bigint)
returning ${ORDER}, reserved`);

const LOCK_ORDER = statement(`select ${ORDER}, reserved from orders where id = $1 for update`);

const LOCK_STOCK = statement(
  'select pet_id as "petId" from inventory where pet_id = any($1::bigint[]) order by pet_id for update',
);

const GIVE_BACK = statement(
  `update inventory set quantity = least(quantity::bigint + $2::int, ${MAX_QUANTITY}) where pet_id = $1`,
);

const TAKE = statement(
  'update inventory set quantity = quantity - $2::int where pet_id = $1 and quantity >= $2::int returning pet_id',
);

const UPDATE = statement(
  `update orders set pet_id = $2, quantity = $3, ship_date = $4, complete = $5, reserved = $6 where id = $1 returning ${ORDER}`,
);

const CANCEL = statement(`with cancelled as (
  delete from orders where id = $1 returning ${ORDER}, reserved
), given_back as (
  update inventory set quantity = least(inventory.quantity::bigint + cancelled.reserved, ${MAX_QUANTITY})
  from cancelled where inventory.pet_id = cancelled."petId" and not cancelled.complete
)
select id, "petId", quantity, "shipDate", complete, reserved from cancelled`);

const SET_STOCK = statement(`with item as (
  insert into inventory (pet_id, quantity) values ($1, $2)
  on conflict (pet_id) do update set quantity = excluded.quantity returning pet_id, quantity, xmax = 0 as is_new
)
select item.pet_id as "petId", item.quantity, pets.status, item.is_new as "isNew"
from item join pets on pets.id = item.pet_id`);

const REMOVE_STOCK =
  statement(`with item as (delete from inventory where pet_id = $1 returning pet_id, quantity)
select item.pet_id as "petId", item.quantity, pets.status, pets.name, pets.category_id as "categoryId",
  categories.name as "categoryName", categories.description
from item join pets on pets.id = item.pet_id join categories on categories.id = pets.category_id`);

/** The content of an order, without its id. */
export type OrderContent = Omit<OrderRow, 'id'>;

/** An order with the units it has reserved. */
export type ReservingOrder = OrderRow & { reserved: number };

/** Inserts the order and takes its units from tracked stock, or does neither: `undefined` if too few are left. */
export async function insertOrder(
  session: Session,
  order: OrderContent,
): Promise<ReservingOrder | undefined> {
  const { petId, quantity, shipDate, complete } = order;
  const place = () => session.query<ReservingOrder>(PLACE, [petId, quantity, shipDate, complete]);
  const [placed] = await place();
  if (placed) return placed;
  // The row that was short of stock, or its pet, may have been deleted while the statement waited for the lock.
  const [placedNow] = await place();
  return placedNow;
}

/**
 * Reads an order with its reserved units, and locks it until the transaction ends; `undefined` if it does not exist.
 */
export async function lockOrder(session: Session, id: bigint): Promise<ReservingOrder | undefined> {
  const [order] = await session.query<ReservingOrder>(LOCK_ORDER, [id]);
  return order;
}

/**
 * Moves an order's reservation from one pet and quantity to another. Stock rows are locked in id order, so two such
 * moves never deadlock.
 * @returns the units it now reserves (0 if the stock is not tracked), or `undefined` if too few are left.
 */
export async function moveReservation(
  session: Session,
  from: { petId: bigint | null; reserved: number },
  to: { petId: bigint | null; quantity: number | null },
): Promise<number | undefined> {
  const pets = [from.petId, to.petId].filter((id) => id !== null);
  const tracked = await session.query<{ petId: bigint }>(LOCK_STOCK, [pets]);
  if (from.petId !== null && from.reserved > 0) await session.query(GIVE_BACK, [from.petId, from.reserved]);
  if (to.petId === null || to.quantity === null) return 0;
  if (!tracked.some((row) => row.petId === to.petId)) return 0;
  const taken = await session.query(TAKE, [to.petId, to.quantity]);
  return taken.length ? to.quantity : undefined;
}

/** Updates a locked order. */
export async function updateOrder(session: Session, order: ReservingOrder): Promise<OrderRow> {
  const { id, petId, quantity, shipDate, complete, reserved } = order;
  const [updated] = await session.query<OrderRow>(UPDATE, [
    id,
    petId,
    quantity,
    shipDate,
    complete,
    reserved,
  ]);
  return updated ?? order;
}

/** Deletes the order and returns its units to stock unless it is complete; `undefined` if it does not exist. */
export async function deleteOrder(session: Session, id: bigint): Promise<ReservingOrder | undefined> {
  const [cancelled] = await session.query<ReservingOrder>(CANCEL, [id]);
  return cancelled;
}

/** Sets the stock of a pet; `isNew`: it was not tracked before. Fails on the foreign key if the pet does not exist. */
export async function setStock(
  session: Session,
  petId: bigint,
  quantity: number,
): Promise<(InventoryRow & { isNew: boolean }) | undefined> {
  const [item] = await session.query<InventoryRow & { isNew: boolean }>(SET_STOCK, [petId, quantity]);
  return item;
}

/**
 * Stops tracking the stock of a pet; `undefined` if it was not tracked.
 * @returns the last state, with the pet and its category.
 */
export async function removeStock(session: Session, petId: bigint): Promise<InventoryRow | undefined> {
  type Row = InventoryRow &
    Pick<PetRow, 'name' | 'categoryId'> & { categoryName: string; description: string | null };
  const [row] = await session.query<Row>(REMOVE_STOCK, [petId]);
  if (!row) return undefined;
  const { name, categoryId, categoryName, description, ...item } = row;
  const category = { id: categoryId, name: categoryName, description };
  return { ...item, pet: { id: petId, name, status: item.status, categoryId, category } };
}
