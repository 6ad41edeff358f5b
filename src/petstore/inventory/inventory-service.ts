import type { Session, Transaction } from '../../database/database';
import { foreignKeyOf } from '../../database/failures';
import type { Inventory } from '../../database/generated/client';
import { COLUMNS } from '../../database/generated/columns';
import type { JsonText } from '../../database/reading/json-text';
import { selectByIds, selectOne } from '../../database/reading/select';
import type { FieldSelection, PageSelection, RowSelection } from '../../database/reading/selection';
import { lockRow } from '../../database/row-locks';
import { badInput, convertForeignKeys, type Fault, notFound, ProblemError } from '../../errors/errors';
import { Checks, MAX_INT32, NOT_ZERO } from '../../errors/input-checks';
import { type Precondition, requireUnchanged } from '../../errors/precondition';
import { checkInput } from '../../graphql/bounds';
import { type PageArgs, type PageResult, readConnection } from '../../graphql/connection';
import { exceedsStock, PetstoreError } from '../errors';
import { type InventoryFilter, InventoryUpdate } from '../inputs';
import { INVENTORY, type InventoryRow, LOCK, PETS, type PetRow, publishChange } from '../model';
import { withCategory } from '../pets/pet-service';

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
  ): Promise<PageResult<InventoryRow>> {
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
    selection?: FieldSelection,
  ): Promise<InventoryRow> {
    const { quantity } = checkInput(InventoryUpdate, input);
    const write = session.transaction(async (tx) => {
      const data = { petId, quantity };
      if (precondition) {
        let item = await lockRow(tx, LOCK.inventory, petId);
        if (!item) {
          // There is no row to lock. The lock on the pet keeps other transactions from creating an entry before this transaction
          // does.
          await lockRow(tx, LOCK.pet, petId);
          item = await lockRow(tx, LOCK.inventory, petId);
        }
        await requireUnchanged(tx, precondition, itemOf(petId), () => (item ? readItem(tx, petId) : noItem(tx, petId)));
      }
      const isNew = await setOrCreate(tx, data);
      publishChange(tx, { topic: 'inventory', kind: isNew ? 'CREATED' : 'UPDATED', id: petId });
      return readItem(tx, petId, selection);
    });
    return convertForeignKeys(write, { [foreignKeyOf(COLUMNS.inventory.petId)]: () => notFound('Pet', petId) });
  }

  /**
   * Adds units to the tracked stock of a pet, or takes units if the number is negative.
   * @throws ProblemError `BAD_USER_INPUT`, `NOT_FOUND` if the stock is not tracked, `INSUFFICIENT_STOCK`.
   */
  async adjust(session: Session, petId: bigint, by: number, selection?: FieldSelection): Promise<InventoryRow> {
    const checks = new Checks();
    checks.value('by', NOT_ZERO, by);
    checks.done();
    return session.transaction(async (tx) => {
      const item = await lockRow(tx, LOCK.inventory, petId);
      if (!item) throw untracked(petId);
      const quantity = item.quantity + by;
      if (quantity < 0) {
        const message = `Fewer than ${-by} units of pet ${petId} are in stock.`;
        throw new PetstoreError('INSUFFICIENT_STOCK', message, [{ path: 'by', ...exceedsStock(item.quantity) }]);
      }
      if (quantity > MAX_INT32) throw badInput({ path: 'by', ...tooManyUnits(MAX_INT32 - item.quantity) });
      await tx.prisma.inventory.update({ where: { petId }, data: { quantity }, select: { petId: true } });
      publishChange(tx, { topic: 'inventory', kind: 'UPDATED', id: petId });
      return readItem(tx, petId, selection);
    });
  }

  /**
   * Stops tracking the stock of a pet.
   * @throws ProblemError `NOT_FOUND` if the stock was not tracked, `PRECONDITION_FAILED`.
   */
  async remove(session: Session, petId: bigint, precondition?: Precondition): Promise<InventoryRow> {
    return session.transaction(async (tx) => {
      const item = await lockRow(tx, LOCK.inventory, petId);
      if (!item) throw untracked(petId);
      const pet = (await selectByIds(tx, PETS, [petId])).get(petId) as PetRow;
      const before = { ...item, status: pet.status, pet: await withCategory(tx, pet) };
      await requireUnchanged(tx, precondition, itemOf(petId), () => before);
      await tx.prisma.inventory.delete({ where: { petId } });
      publishChange(tx, { topic: 'inventory', kind: 'DELETED', id: petId, before });
      return before;
    });
  }
}

function untracked(petId: bigint): ProblemError {
  return new ProblemError('NOT_FOUND', `Pet ${petId} has no inventory entry.`);
}

/** @param max the number of units that can still be added. */
function tooManyUnits(max: number): Fault {
  return { message: `must be at most ${max}: the stock is limited`, rule: 'OUT_OF_RANGE', params: { max } };
}

/** The name of an inventory entry in error messages. */
function itemOf(petId: bigint): string {
  return `The stock of pet ${petId}`;
}

/** Reads an entry that exists, since the transaction has locked or written it. */
async function readItem(tx: Transaction, petId: bigint, selection?: FieldSelection): Promise<InventoryRow> {
  return (await selectByIds(tx, INVENTORY, [petId], selection)).get(petId) as InventoryRow;
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
async function setOrCreate(
  { prisma: { inventory } }: Transaction,
  data: Pick<Inventory, 'petId' | 'quantity'>,
): Promise<boolean> {
  const { petId, quantity } = data;
  for (;;) {
    const updated = await inventory.updateMany({ where: { petId }, data: { quantity } });
    if (updated.count) return false;
    const created = await inventory.createMany({ data, skipDuplicates: true });
    if (created.count) return true;
  }
}
