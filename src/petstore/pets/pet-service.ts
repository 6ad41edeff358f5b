import type { Session } from '../../database/database';
import type { PetStatus } from '../../database/generated/enums';
import { insertPet, lockRow } from '../../database/raw-queries';
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
import { NAME, NOT_NULL, type Rules } from '../../errors/input-rules';
import { type Connection, connect, connectAll, type PageArgs } from '../../graphql/connection';
import type { PetRow } from '../rows';
import { PETS } from '../tables';

export interface NewPet {
  name: string;
  categoryId: bigint;
  status?: PetStatus | null;
}

export type PetUpdate = { [field in keyof NewPet]?: NewPet[field] | null };

export const NEW_PET: Rules<NewPet> = { name: NAME };
export const PET_UPDATE = {
  name: { ...NAME, ...NOT_NULL },
  categoryId: NOT_NULL,
  status: NOT_NULL,
} satisfies Rules<PetUpdate>;

export interface PetFilter {
  ids?: bigint[] | null;
  statuses?: PetStatus[] | null;
  categoryIds?: bigint[] | null;
  name?: string | null;
}

/** Pets. */
export class PetService {
  /** Finds the pets of `ids`, by id. */
  find(session: Session, ids: readonly bigint[], selection?: Selection): Promise<Map<bigint, PetRow>> {
    return selectByIds(session, PETS, ids, selection);
  }

  async list(
    session: Session,
    filter: PetFilter | null | undefined,
    page: PageArgs,
    selection?: Selection,
  ): Promise<Connection<PetRow>> {
    return connect(session, PETS, page, filter, selection);
  }

  /** Reads the same page of pets for each category. */
  async listByCategory(
    session: Session,
    categories: readonly bigint[],
    filter: PetFilter | null | undefined,
    page: PageArgs,
    selection?: Selection,
  ): Promise<Map<bigint, Connection<PetRow>>> {
    return connectAll(session, PETS, 'categoryId', categories, page, filter, selection);
  }

  /**
   * Creates a pet, `available` unless the input says otherwise.
   * @throws DomainError `BAD_USER_INPUT`, `UNKNOWN_REFERENCE`.
   */
  async create(session: Session, input: NewPet): Promise<PetRow> {
    const { name, status, categoryId } = checkInput(NEW_PET, input);
    const write = insertPet(session, { name, status: status ?? 'available', categoryId }, ([pet]) => {
      if (pet) session.changed({ topic: 'pet', kind: 'CREATED', id: pet.id });
    });
    return refusing(write, unknownCategory(categoryId));
  }

  /**
   * Changes the fields in the input.
   * @throws DomainError `BAD_USER_INPUT`, `NOT_FOUND`, `PRECONDITION_FAILED`, `UNKNOWN_REFERENCE`.
   */
  async update(session: Session, id: bigint, input: PetUpdate, precondition?: Precondition): Promise<PetRow> {
    const data = checkInput(PET_UPDATE, input);
    const write = session.transaction(async (tx) => {
      if (!(await lockRow(tx, 'pet', id))) throw notFound('Pet', id);
      const { pet } = tx.prisma;
      const { status, categoryId, ...rest } = await pet.findUniqueOrThrow({ where: { id } });
      const before = { status, categoryId };
      await requireUnchanged(precondition, `Pet ${id}`, () => ({ ...rest, ...before }));
      const updated = await pet.update({ where: { id }, data });
      tx.changed({ topic: 'pet', kind: 'UPDATED', id, before });
      return updated;
    });
    return refusing(write, data.categoryId === undefined ? {} : unknownCategory(data.categoryId));
  }

  /**
   * Deletes the pet and its inventory entry.
   * @throws DomainError `NOT_FOUND`, `PRECONDITION_FAILED`, `PET_HAS_ORDERS`.
   */
  async delete(session: Session, id: bigint, precondition?: Precondition): Promise<PetRow> {
    const write = session.transaction(async (tx) => {
      await lockRow(tx, 'inventory', id);
      if (!(await lockRow(tx, 'pet', id))) throw notFound('Pet', id);
      await requireUnchanged(precondition, `Pet ${id}`, () => tx.prisma.pet.findUnique({ where: { id } }));
      const { inventory, ...pet } = await tx.prisma.pet.delete({
        where: { id },
        include: { category: true, inventory: true },
      });
      tx.changed({ topic: 'pet', kind: 'DELETED', id, before: pet });
      if (inventory) {
        const before = { ...inventory, status: pet.status, pet };
        tx.changed({ topic: 'inventory', kind: 'DELETED', id, before });
      }
      return pet;
    });
    return refusing(write, {
      'foreign-key': () => new DomainError('PET_HAS_ORDERS', `Pet ${id} still has orders; cancel them first.`),
    });
  }
}

function unknownCategory(id: bigint) {
  return { 'foreign-key': () => unknownReference('input.categoryId', 'Category', id) };
}
