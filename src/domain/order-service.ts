import type { Session } from '../database/database';
import { failureOf } from '../database/failures';
import { selectByIds } from '../database/select';
import type { Selection } from '../database/selection';
import {
  deleteOrder,
  insertOrder,
  lockOrder,
  moveReservation,
  type OrderContent,
  updateOrder,
} from '../database/stock';
import { ORDERS, type OrderRow } from '../database/tables';
import { Checks, MAX_QUANTITY } from './checks';
import { type Connection, connect, connectAll, type PageArgs } from './connection';
import { DomainError, notFound, unknownReference } from './errors';

/** In a new order every field is optional; in an update an omitted field is unchanged, and null clears it. */
export interface OrderInput {
  petId?: bigint | null;
  quantity?: number | null;
  shipDate?: Date | null;
  complete?: boolean | null;
}

export interface OrderFilter {
  petId?: bigint | null;
  complete?: boolean | null;
}

/** Orders, and the stock they reserve and return. */
export class OrderService {
  /** Finds the orders of `ids`, by id. */
  find(session: Session, ids: readonly bigint[], selection?: Selection): Promise<Map<bigint, OrderRow>> {
    return selectByIds(session, ORDERS, ids, selection);
  }

  async list(
    session: Session,
    filter: OrderFilter | null | undefined,
    page: PageArgs,
    selection?: Selection,
  ): Promise<Connection<OrderRow>> {
    return connect(session, ORDERS, page, filtersOf(filter), selection);
  }

  /** Reads the same page of orders for each pet. */
  async listByPet(
    session: Session,
    pets: readonly bigint[],
    filter: OrderFilter | null | undefined,
    page: PageArgs,
    selection?: Selection,
  ): Promise<Map<bigint, Connection<OrderRow>>> {
    return connectAll(session, ORDERS, 'petId', pets, page, filtersOf(filter), selection);
  }

  /**
   * Places an order. If the pet's stock is tracked, the units are taken from it in the same statement.
   * @throws DomainError `BAD_USER_INPUT`, `UNKNOWN_REFERENCE`, `INSUFFICIENT_STOCK`.
   */
  async place(session: Session, input: OrderInput): Promise<OrderRow> {
    const { petId = null, quantity = null, shipDate = null, complete } = input;
    checkQuantity(quantity);
    const placed = await guardPet(petId, () =>
      insertOrder(session, { petId, quantity, shipDate, complete: complete ?? false }),
    );
    if (!placed) throw insufficientStock(petId, quantity);
    session.changed({ topic: 'order', kind: 'CREATED', id: placed.id });
    if (placed.reserved > 0) stockChanged(session, petId);
    return placed;
  }

  /**
   * Changes the fields in the input, and moves the reserved stock accordingly.
   * @throws DomainError `BAD_USER_INPUT`, `NOT_FOUND`, `ORDER_COMPLETE`, `UNKNOWN_REFERENCE`, `INSUFFICIENT_STOCK`.
   */
  async update(session: Session, id: bigint, input: OrderInput): Promise<OrderRow> {
    checkQuantity(input.quantity);
    const checks = new Checks();
    checks.notNull('input.complete', input.complete);
    checks.done();
    return session.transaction(async (tx) => {
      const order = await lockOrder(tx, id);
      if (!order) throw notFound('Order', id);
      const changed = merge(order, input);
      let { reserved } = order;
      if (changed.petId !== order.petId || changed.quantity !== order.quantity) {
        if (order.complete) {
          throw new DomainError(
            'ORDER_COMPLETE',
            `Order ${id} is complete; its pet and quantity no longer change.`,
          );
        }
        const held = await moveReservation(tx, order, changed);
        if (held === undefined) throw insufficientStock(changed.petId, changed.quantity);
        reserved = held;
        if (order.reserved > 0) stockChanged(tx, order.petId);
        if (held > 0 && (changed.petId !== order.petId || order.reserved === 0))
          stockChanged(tx, changed.petId);
      }
      const updated = await guardPet(changed.petId, () => updateOrder(tx, { ...changed, id, reserved }));
      const { petId, complete } = order;
      tx.changed({ topic: 'order', kind: 'UPDATED', id, before: { petId, complete } });
      return updated;
    });
  }

  /** Deletes the order; its units return to stock unless it is complete. @throws DomainError `NOT_FOUND`. */
  async cancel(session: Session, id: bigint): Promise<OrderRow> {
    const cancelled = await deleteOrder(session, id);
    if (!cancelled) throw notFound('Order', id);
    const { reserved, ...order } = cancelled;
    session.changed({ topic: 'order', kind: 'DELETED', id, before: order });
    if (reserved > 0 && !order.complete) stockChanged(session, order.petId);
    return order;
  }
}

/** Records that units were taken from a pet's stock or returned to it. */
function stockChanged(session: Session, petId: bigint | null): void {
  if (petId !== null) session.changed({ topic: 'inventory', kind: 'UPDATED', id: petId });
}

function merge(order: OrderContent, input: OrderInput): OrderContent {
  return {
    petId: input.petId === undefined ? order.petId : input.petId,
    quantity: input.quantity === undefined ? order.quantity : input.quantity,
    shipDate: input.shipDate === undefined ? order.shipDate : input.shipDate,
    complete: input.complete ?? order.complete,
  };
}

function filtersOf(filter: OrderFilter | null | undefined) {
  return { petId: filter?.petId == null ? undefined : [filter.petId], complete: filter?.complete };
}

function checkQuantity(quantity: number | null | undefined): void {
  if (quantity === undefined || quantity === null) return;
  const checks = new Checks();
  checks.integer('input.quantity', quantity, 1, MAX_QUANTITY);
  checks.done();
}

async function guardPet<T>(petId: bigint | null, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (petId !== null && failureOf(error) === 'foreign-key')
      throw unknownReference('input.petId', 'Pet', petId);
    throw error;
  }
}

function insufficientStock(petId: bigint | null, quantity: number | null): DomainError {
  return new DomainError('INSUFFICIENT_STOCK', `Fewer than ${quantity} units of pet ${petId} are in stock.`);
}
