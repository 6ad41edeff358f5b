import type { Session, Transaction } from '../../database/database';
import type { Order } from '../../database/generated/client';
import { insertOrder, lockRow } from '../../database/raw-queries';
import { selectByIds } from '../../database/reading/select';
import type { Selection } from '../../database/reading/selection';
import { checkInput } from '../../errors/checks';
import {
  DomainError,
  notFound,
  type Precondition,
  refusing,
  requireUnchanged,
  unknownReference,
} from '../../errors/domain-error';
import { NOT_NULL, QUANTITY, type Rules } from '../../errors/input-rules';
import { type Connection, connect, connectAll, type PageArgs } from '../../graphql/connection';
import type { OrderRow } from '../rows';
import { INVENTORY, ORDERS } from '../tables';
import { insufficientStock, moveReservation } from './reservations';

/** In a new order every field is optional; in an update an omitted field is unchanged, and null clears it. */
export interface OrderInput {
  petId?: bigint | null;
  quantity?: number | null;
  shipDate?: Date | null;
  complete?: boolean | null;
}

export const NEW_ORDER: Rules<OrderInput> = { quantity: QUANTITY };
export const ORDER_UPDATE = { ...NEW_ORDER, complete: NOT_NULL } satisfies Rules<OrderInput>;

export interface OrderFilter {
  ids?: bigint[] | null;
  petIds?: bigint[] | null;
  complete?: boolean | null;
}

const NOTHING = { petId: null, quantity: null };

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
    return connect(session, ORDERS, page, filter, selection);
  }

  /** Reads the same page of orders for each pet. */
  async listByPet(
    session: Session,
    pets: readonly bigint[],
    filter: OrderFilter | null | undefined,
    page: PageArgs,
    selection?: Selection,
  ): Promise<Map<bigint, Connection<OrderRow>>> {
    return connectAll(session, ORDERS, 'petId', pets, page, filter, selection);
  }

  /**
   * Places an order. If the pet's stock is tracked, the units are taken from it in the same statement.
   * @throws DomainError `BAD_USER_INPUT`, `UNKNOWN_REFERENCE`, `INSUFFICIENT_STOCK`.
   */
  async place(session: Session, input: OrderInput): Promise<OrderRow> {
    const { petId = null, quantity = null, shipDate = null, complete } = checkInput(NEW_ORDER, input);
    const order = { petId, quantity, shipDate, complete: complete ?? false };
    const write = insertOrder(session, order, ([placed]) => {
      if (!placed) return;
      session.changed({ topic: 'order', kind: 'CREATED', id: placed.id });
      if (petId !== null && placed.reserved > 0) session.changed({ topic: 'inventory', kind: 'UPDATED', id: petId });
    });
    const placed = await refusing(write, unknownPet(petId));
    if (!placed) throw insufficientStock(order, await stockBelow(session, order));
    return placed;
  }

  /**
   * Changes the fields in the input, and moves the reserved stock accordingly.
   * @throws DomainError `BAD_USER_INPUT`, `NOT_FOUND`, `PRECONDITION_FAILED`, `ORDER_COMPLETE`, `UNKNOWN_REFERENCE`,
   * `INSUFFICIENT_STOCK`.
   */
  async update(session: Session, id: bigint, input: OrderInput, precondition?: Precondition): Promise<OrderRow> {
    const data = checkInput(ORDER_UPDATE, input);
    const write = session.transaction(async (tx) => {
      const order = await lockOrder(tx, id, precondition);
      const { petId = order.petId, quantity = order.quantity } = data;
      const isMoved = petId !== order.petId || quantity !== order.quantity;
      if (isMoved && order.complete) {
        throw new DomainError('ORDER_COMPLETE', `Order ${id} is complete; its pet and quantity no longer change.`);
      }
      const reserved = isMoved ? await moveReservation(tx, order, { petId, quantity }) : order.reserved;
      const updated = await tx.prisma.order.update({
        where: { id },
        data: { ...data, reserved },
        omit: { reserved: true },
      });
      const before = { petId: order.petId, complete: order.complete };
      tx.changed({ topic: 'order', kind: 'UPDATED', id, before });
      return updated;
    });
    return refusing(write, unknownPet(data.petId));
  }

  /**
   * Deletes the order; its units return to stock unless it is complete.
   * @throws DomainError `NOT_FOUND`, `PRECONDITION_FAILED`.
   */
  async cancel(session: Session, id: bigint, precondition?: Precondition): Promise<OrderRow> {
    return session.transaction(async (tx) => {
      const { reserved, ...order } = await lockOrder(tx, id, precondition);
      tx.changed({ topic: 'order', kind: 'DELETED', id, before: order });
      if (reserved > 0 && !order.complete) await moveReservation(tx, { ...order, reserved }, NOTHING);
      await tx.prisma.order.delete({ where: { id } });
      return order;
    });
  }
}

/** What is in stock of an order that was refused; `undefined` if it would do by now. */
async function stockBelow(session: Session, { petId, quantity }: OrderInput): Promise<number | undefined> {
  if (petId == null) return undefined;
  const stock = (await selectByIds(session, INVENTORY, [petId])).get(petId)?.quantity;
  return stock !== undefined && stock < (quantity ?? 0) ? stock : undefined;
}

/**
 * Reads an order, which no other transaction changes until this one ends.
 * @throws DomainError `NOT_FOUND`, `PRECONDITION_FAILED`.
 */
async function lockOrder(tx: Transaction, id: bigint, precondition: Precondition | undefined): Promise<Order> {
  if (!(await lockRow(tx, 'order', id))) throw notFound('Order', id);
  const order = await tx.prisma.order.findUniqueOrThrow({ where: { id } });
  await requireUnchanged(precondition, `Order ${id}`, () => order);
  return order;
}

function unknownPet(petId: bigint | null | undefined) {
  return petId == null ? {} : { 'foreign-key': () => unknownReference('input.petId', 'Pet', petId) };
}
