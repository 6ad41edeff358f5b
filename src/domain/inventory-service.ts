import type { Session } from '../database/database';
import { failureOf } from '../database/failures';
import type { PetStatus } from '../database/generated/enums';
import { selectByIds } from '../database/select';
import type { Selection } from '../database/selection';
import { removeStock, setStock } from '../database/stock';
import { INVENTORY, type InventoryRow } from '../database/tables';
import { Checks, MAX_QUANTITY } from './checks';
import { type Connection, connect, type PageArgs } from './connection';
import { DomainError, notFound } from './errors';

export interface InventoryFilter {
  status?: PetStatus[] | null;
  maxQuantity?: number | null;
}

/** Stock of pets. A pet has an inventory entry once its stock has been set. */
export class InventoryService {
  /** Finds the inventory entries of `petIds`, by pet. */
  find(
    session: Session,
    petIds: readonly bigint[],
    selection?: Selection,
  ): Promise<Map<bigint, InventoryRow>> {
    return selectByIds(session, INVENTORY, petIds, selection);
  }

  async list(
    session: Session,
    filter: InventoryFilter | null | undefined,
    page: PageArgs,
    selection?: Selection,
  ): Promise<Connection<InventoryRow>> {
    const filters = { status: filter?.status, maxQuantity: filter?.maxQuantity };
    return connect(session, INVENTORY, page, filters, selection);
  }

  /** Sets the stock of a pet, whatever it was. @throws DomainError `BAD_USER_INPUT`, `NOT_FOUND` (the pet). */
  async set(session: Session, petId: bigint, input: { quantity: number }): Promise<InventoryRow> {
    const checks = new Checks();
    checks.integer('input.quantity', input.quantity, 0, MAX_QUANTITY);
    checks.done();
    try {
      const item = await setStock(session, petId, input.quantity);
      if (item) {
        session.changed({ topic: 'inventory', kind: item.isNew ? 'CREATED' : 'UPDATED', id: petId });
        return item;
      }
    } catch (error) {
      if (failureOf(error) !== 'foreign-key') throw error;
    }
    throw notFound('Pet', petId);
  }

  /** Stops tracking the stock of a pet. @throws DomainError `NOT_FOUND` if it was not tracked. */
  async remove(session: Session, petId: bigint): Promise<InventoryRow> {
    const item = await removeStock(session, petId);
    if (!item) throw new DomainError('NOT_FOUND', `Pet ${petId} has no inventory entry.`);
    session.changed({ topic: 'inventory', kind: 'DELETED', id: petId, before: item });
    return item;
  }
}
