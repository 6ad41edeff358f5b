import type { Session, Transaction } from '../../database/database';
import { foreignKeyOf } from '../../database/failures';
import type { Order } from '../../database/generated/client';
import { COLUMNS } from '../../database/generated/columns';
import { insertParts } from '../../database/insert-parts';
import type { JsonText } from '../../database/reading/json-text';
import { selectByIds, selectOne } from '../../database/reading/select';
import type { FieldSelection, PageSelection, RowSelection } from '../../database/reading/selection';
import { lockRow, lockRows } from '../../database/row-locks';
import { convertForeignKeys, notFound, unknownReference } from '../../errors/errors';
import { MAX_INT32 } from '../../errors/input-checks';
import { type Precondition, requireUnchanged } from '../../errors/precondition';
import { checkInput } from '../../graphql/bounds';
import { type PageArgs, type PageResult, readConnection } from '../../graphql/connection';
import { exceedsStock, PetstoreError } from '../errors';
import { NewOrder, type OrderFilter, OrderUpdate } from '../inputs';
import { INVENTORY, LOCK, ORDERS, type OrderRow, publishChange } from '../model';
import { insertBySelection, withVersion } from '../row-metadata';

const NOTHING = { petId: null, quantity: null };

const { id: ID, reserved: RESERVED, createdAt: _, updatedAt: __, ...columns } = COLUMNS.orders;
const ORDER_PARTS = insertParts(columns);
const { petId: OF_PET, quantity: UNITS, owner: OWNER } = ORDER_PARTS.parameters;
type InsertedOrder = Pick<Order, 'id' | 'reserved'>;
// One statement checks the stock, reduces it and inserts the order. The update locks the inventory row, so a concurrent
// order for the same pet waits, and then checks the remaining quantity.
const insertFor = insertBySelection<InsertedOrder>(ORDERS, {
  before: `taken as (
  update inventory set quantity = quantity - ${UNITS} where pet_id = ${OF_PET} and quantity >= ${UNITS} returning pet_id
)`,
  insert: `insert into orders (${ORDER_PARTS.names}, reserved)
select ${ORDER_PARTS.placeholders}, case when exists (select from taken) then ${UNITS} else 0 end
where exists (select from taken)
   or ${OF_PET} is null or ${UNITS} is null
   or not exists (select from inventory where pet_id = ${OF_PET})`,
  returning: { id: ID.sql, reserved: RESERVED.sql },
  parameters: ORDER_PARTS.fields.length,
  events: [
    { topic: 'order', kind: 'CREATED', from: 'written', objectId: 'id', owner: OWNER },
    { topic: 'inventory', kind: 'UPDATED', from: 'taken', objectId: 'pet_id' },
  ],
});
type OrderData = Pick<Order, keyof typeof columns>;

/** Reads and writes orders. Orders reserve stock. Cancelling an order returns its stock unless the order is complete. */
export class OrderService {
  /** Reads one order, as JSON text if the selection asks for JSON. */
  get(session: Session, id: bigint, selection: RowSelection): Promise<OrderRow | JsonText | undefined> {
    return selectOne(session, ORDERS, id, selection);
  }

  async list(
    session: Session,
    filter: OrderFilter | null | undefined,
    page: PageArgs,
    selection?: PageSelection,
  ): Promise<PageResult<OrderRow>> {
    return readConnection(session, ORDERS, page, filter, selection);
  }

  /**
   * Places an order. If the pet's stock is tracked, the units are taken from it in the same statement.
   * @param owner the end user to whom the order belongs; null if a key or an anonymous caller places it.
   * @throws ProblemError `BAD_USER_INPUT`, `UNKNOWN_REFERENCE`, `INSUFFICIENT_STOCK`.
   */
  async place(
    session: Session,
    input: NewOrder,
    owner: string | null = null,
    selection?: FieldSelection,
  ): Promise<OrderRow> {
    const { petId = null, quantity = null, shipDate = null, complete } = checkInput(NewOrder, input);
    const order = { petId, quantity, shipDate, complete: complete ?? false, owner };
    const placed = await convertForeignKeys(insertOrder(session, order, selection), unknownPet(petId));
    if (!placed) throw insufficientStock(order, await stockBelow(session, order));
    const { reserved: ___, ...row } = placed;
    return { ...row, ...order };
  }

  /**
   * Changes only the fields that the input contains. If the pet or quantity changes, the reserved stock is adjusted.
   * @throws ProblemError `BAD_USER_INPUT`, `NOT_FOUND`, `PRECONDITION_FAILED`, `ORDER_COMPLETE`, `UNKNOWN_REFERENCE`,
   * `INSUFFICIENT_STOCK`.
   */
  async update(
    session: Session,
    id: bigint,
    input: OrderUpdate,
    precondition?: Precondition,
    selection?: FieldSelection,
  ): Promise<OrderRow> {
    const data = checkInput(OrderUpdate, input);
    const write = session.transaction(async (tx) => {
      const order = await lockOrder(tx, id, precondition);
      const { petId = order.petId, quantity = order.quantity } = data;
      const isMoved = petId !== order.petId || quantity !== order.quantity;
      if (isMoved && order.complete) {
        throw new PetstoreError(
          'ORDER_COMPLETE',
          `Order ${id} is complete; its pet and quantity can no longer change.`,
        );
      }
      const reserved = isMoved ? await moveReservation(tx, order, { petId, quantity }) : order.reserved;
      const updated = await tx.prisma.order.update({
        where: { id },
        data: { ...data, reserved },
        omit: { reserved: true },
      });
      const before = { petId: order.petId, complete: order.complete };
      publishChange(tx, { topic: 'order', kind: 'UPDATED', id, owner: order.owner, before });
      return withVersion<OrderRow>(tx, ORDERS, updated, selection);
    });
    return convertForeignKeys(write, unknownPet(data.petId));
  }

  /**
   * Deletes an order. Its reserved units return to stock unless the order is complete.
   * @param check throws an error if the caller may not cancel this order.
   * @throws ProblemError `NOT_FOUND`, `PRECONDITION_FAILED`; errors of `check`.
   */
  async cancel(
    session: Session,
    id: bigint,
    precondition?: Precondition,
    check: (order: OrderRow) => void = () => undefined,
  ): Promise<OrderRow> {
    return session.transaction(async (tx) => {
      const { reserved, ...order } = await lockOrder(tx, id, precondition);
      check(order);
      publishChange(tx, { topic: 'order', kind: 'DELETED', id, owner: order.owner, before: order });
      if (reserved > 0 && !order.complete) await moveReservation(tx, { ...order, reserved }, NOTHING);
      await tx.prisma.order.delete({ where: { id } });
      return order;
    });
  }
}

/** The current stock for an order that was rejected; `undefined` if the stock is sufficient by now, or is not tracked. */
async function stockBelow(
  session: Session,
  { petId, quantity }: Pick<Order, 'petId' | 'quantity'>,
): Promise<number | undefined> {
  if (petId === null) return undefined;
  const stock = (await selectByIds(session, INVENTORY, [petId])).get(petId)?.quantity;
  return stock !== undefined && stock < (quantity ?? 0) ? stock : undefined;
}

/**
 * Reads and locks an order.
 * @throws ProblemError `NOT_FOUND`, `PRECONDITION_FAILED`.
 */
async function lockOrder(tx: Transaction, id: bigint, precondition: Precondition | undefined) {
  const order = await lockRow(tx, LOCK.order, id);
  if (!order) throw notFound('Order', id);
  await requireUnchanged(tx, precondition, `Order ${id}`, () => order);
  return order;
}

function unknownPet(petId: bigint | null | undefined) {
  if (petId == null) return {};
  return { [foreignKeyOf(COLUMNS.orders.petId)]: () => unknownReference('input.petId', 'Pet', petId) };
}

/**
 * Moves an order's reservation. The reserved units go back to the stock of the old pet, and the new quantity is taken from
 * the stock of the new pet. If the pet stays the same, only the difference is returned or taken. Stock that is not tracked
 * is unchanged. Stock is capped at the largest int32.
 * @returns the number of units that are now reserved: 0 if the new pet's stock is not tracked.
 * @throws ProblemError `INSUFFICIENT_STOCK`.
 */
async function moveReservation(
  tx: Transaction,
  from: Pick<Order, 'petId' | 'reserved'>,
  to: Pick<Order, 'petId' | 'quantity'>,
): Promise<number> {
  const pets = [...new Set([from.petId, to.petId])].filter((id) => id !== null);
  const tracked = await lockRows(tx, LOCK.inventory, pets);
  const stock = new Map(tracked.map(({ petId, quantity }) => [petId, quantity]));
  const reserved = to.petId !== null && stock.has(to.petId) ? (to.quantity ?? 0) : 0;
  for (const petId of pets) {
    const quantity = stock.get(petId);
    const returned = petId === from.petId ? from.reserved : 0;
    const taken = petId === to.petId ? reserved : 0;
    if (quantity === undefined || returned === taken) continue;
    const left = quantity + returned - taken;
    if (left < 0) throw insufficientStock(to, quantity + returned);
    await tx.prisma.inventory.update({ where: { petId }, data: { quantity: Math.min(left, MAX_INT32) } });
    publishChange(tx, { topic: 'inventory', kind: 'UPDATED', id: petId });
  }
  return reserved;
}

/** @param stock the available units; `undefined` if unknown. */
function insufficientStock({ petId, quantity }: Pick<Order, 'petId' | 'quantity'>, stock?: number): PetstoreError {
  const details = [{ path: 'input.quantity', ...exceedsStock(stock) }];
  return new PetstoreError('INSUFFICIENT_STOCK', `Fewer than ${quantity} units of pet ${petId} are in stock.`, details);
}

/**
 * Inserts an order. If the pet's stock is tracked, subtracts the order's quantity from the stock.
 * @returns `undefined`, without changing anything, if the stock is too small.
 */
async function insertOrder(
  session: Session,
  order: OrderData,
  selection: FieldSelection | undefined,
): Promise<InsertedOrder | undefined> {
  const values = ORDER_PARTS.fields.map((field) => order[field]);
  const insert = () => insertFor(selection).run(session, values);
  const placed = await insert();
  // If no order was inserted, the stock may be too small. But the inventory row or the pet may also have been deleted while
  // the statement waited for the lock. Then the second attempt succeeds, or fails because the pet is missing.
  return placed ?? (await insert());
}
