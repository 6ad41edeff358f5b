import type { Session, Transaction } from '../../database/database';
import type { Inventory } from '../../database/generated/client';
import { selectOne } from '../../database/reading/select';
import type { JsonText, PageSelection, RowSelection } from '../../database/reading/selection';
import { lockRow } from '../../database/writing';
import { notFound, type Precondition, ProblemError, refusing, requireUnchanged } from '../../errors/errors';
import { checkInput } from '../../graphql/bounds';
import { type Listed, type PageArgs, readConnection } from '../../graphql/connection';
import { type InventoryFilter, InventoryUpdate } from '../inputs';
import { announceChange, INVENTORY, type InventoryRow, LOCK } from '../model';

/** Reads and writes the stock of pets. A pet has an inventory entry while its stock is tracked. */
export class InventoryService {
  /** Reads one inventory entry, as JSON text if the selection asks for JSON. */
  get(session: Session, id: bigint, selection: RowSelection): Promise<InventoryRow | JsonText | undefined> {
    return selectOne(session, INVENTORY, id, selection);
  }

  async list(
    session: Session,
    filter: InventoryFilter | null | undefined,
    page: PageArgs,
    selection?: PageSelection,
  ): Promise<Listed<InventoryRow>> {
    return readConnection(session, INVENTORY, page, filter, selection);
  }

  /**
   * Sets the stock of a pet. If the stock was not tracked, it is tracked from now on.
   * @throws ProblemError `BAD_USER_INPUT`, `NOT_FOUND` if the pet does not exist, `PRECONDITION_FAILED`.
   */
  async set(
    session: Session,
    petId: bigint,
    input: InventoryUpdate,
    precondition?: Precondition,
  ): Promise<InventoryRow> {
    const { quantity } = checkInput(InventoryUpdate, input);
    const write = session.transaction(async (tx) => {
      const data = { petId, quantity };
      if (precondition) {
        const isThere = await lockRow(tx, LOCK.inventory, petId);
        await requireUnchanged(precondition, itemOf(petId), () => (isThere ? findItem(tx, petId) : noItem(tx, petId)));
      }
      const isNew = await setOrCreate(tx, data);
      const { status } = await tx.prisma.pet.findUniqueOrThrow({ where: { id: petId } });
      announceChange(tx, { topic: 'inventory', kind: isNew ? 'CREATED' : 'UPDATED', id: petId });
      return { ...data, status };
    });
    return refusing(write, { 'foreign-key': () => notFound('Pet', petId) });
  }

  /**
   * Stops tracking the stock of a pet.
   * @throws ProblemError `NOT_FOUND` if the stock was not tracked, `PRECONDITION_FAILED`.
   */
  async remove(session: Session, petId: bigint, precondition?: Precondition): Promise<InventoryRow> {
    return session.transaction(async (tx) => {
      if (!(await lockRow(tx, LOCK.inventory, petId)))
        throw new ProblemError('NOT_FOUND', `Pet ${petId} has no inventory entry.`);
      await requireUnchanged(precondition, itemOf(petId), () => findItem(tx, petId));
      const removed = await tx.prisma.inventory.delete({
        where: { petId },
        include: { pet: { include: { category: true } } },
      });
      const before = { ...removed, status: removed.pet.status };
      announceChange(tx, { topic: 'inventory', kind: 'DELETED', id: petId, before });
      return before;
    });
  }
}

/** The name of an inventory entry in error messages. */
function itemOf(petId: bigint): string {
  return `The stock of pet ${petId}`;
}

async function findItem({ prisma }: Transaction, petId: bigint): Promise<InventoryRow> {
  const { pet, ...item } = await prisma.inventory.findUniqueOrThrow({ where: { petId }, include: { pet: true } });
  return { ...item, status: pet.status };
}

/**
 * Returns null, which stands for the missing inventory entry of a pet.
 * @throws ProblemError `NOT_FOUND` if the pet does not exist.
 */
async function noItem({ prisma }: Transaction, petId: bigint): Promise<null> {
  if (!(await prisma.pet.findUnique({ where: { id: petId } }))) throw notFound('Pet', petId);
  return null;
}

/**
 * Updates the entry, or inserts it if it does not exist. Repeats the update and the insert until either succeeds, since
 * other transactions may create or delete the entry in between. An upsert would not report whether the entry is new.
 * @returns whether the entry is new.
 */
async function setOrCreate({ prisma: { inventory } }: Transaction, data: Inventory): Promise<boolean> {
  const { petId, quantity } = data;
  for (;;) {
    const updated = await inventory.updateMany({ where: { petId }, data: { quantity } });
    if (updated.count) return false;
    const created = await inventory.createMany({ data, skipDuplicates: true });
    if (created.count) return true;
  }
}
