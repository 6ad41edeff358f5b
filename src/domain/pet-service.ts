import type { Session } from '../database/database';
import { failureOf } from '../database/failures';
import type { PetStatus } from '../database/generated/enums';
import { selectByIds } from '../database/select';
import type { Selection } from '../database/selection';
import { PETS, type PetRow } from '../database/tables';
import { deletePet, insertPet, updatePet } from '../database/write-pet';
import { Checks } from './checks';
import { type Connection, connect, connectAll, type PageArgs } from './connection';
import { DomainError, notFound, unknownReference } from './errors';
import { nameFilter } from './name-filter';

export interface NewPet {
  name: string;
  categoryId: bigint;
  status?: PetStatus | null;
}

export type PetUpdate = { [field in keyof NewPet]?: NewPet[field] | null };

export interface PetFilter {
  ids?: bigint[] | null;
  status?: PetStatus[] | null;
  categoryId?: bigint[] | null;
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
    return connect(session, PETS, page, filtersOf(filter), selection);
  }

  /** Reads the same page of pets for each category. */
  async listByCategory(
    session: Session,
    categories: readonly bigint[],
    filter: PetFilter | null | undefined,
    page: PageArgs,
    selection?: Selection,
  ): Promise<Map<bigint, Connection<PetRow>>> {
    return connectAll(session, PETS, 'categoryId', categories, page, filtersOf(filter), selection);
  }

  /**
   * Creates a pet, `available` unless the input says otherwise.
   * @throws DomainError `BAD_USER_INPUT`, `UNKNOWN_REFERENCE`.
   */
  async create(session: Session, input: NewPet): Promise<PetRow> {
    const checks = new Checks();
    const name = checks.name('input.name', input.name);
    checks.done();
    try {
      const pet = await insertPet(session, name, input.status ?? 'available', input.categoryId);
      session.changed({ topic: 'pet', kind: 'CREATED', id: pet.id });
      return pet;
    } catch (error) {
      throw failureOf(error) === 'foreign-key' ? unknownCategory(input.categoryId) : error;
    }
  }

  /** Changes the fields in the input. @throws DomainError `BAD_USER_INPUT`, `NOT_FOUND`, `UNKNOWN_REFERENCE`. */
  async update(session: Session, id: bigint, input: PetUpdate): Promise<PetRow> {
    const { name, categoryId, status } = input;
    const checks = new Checks();
    checks.notNull('input.name', name);
    checks.notNull('input.categoryId', categoryId);
    checks.notNull('input.status', status);
    const data = {
      ...(name != null && { name: checks.name('input.name', name) }),
      ...(categoryId != null && { categoryId }),
      ...(status != null && { status }),
    };
    checks.done();
    const updated = await updatePet(session, id, data).catch((error: unknown) => {
      if (categoryId != null && failureOf(error) === 'foreign-key') throw unknownCategory(categoryId);
      throw error;
    });
    if (!updated) throw notFound('Pet', id);
    session.changed({ topic: 'pet', kind: 'UPDATED', id, before: updated.before });
    return updated.pet;
  }

  /** Deletes the pet and its inventory entry. @throws DomainError `NOT_FOUND`, `PET_HAS_ORDERS`. */
  async delete(session: Session, id: bigint): Promise<PetRow> {
    const deleted = await deletePet(session, id).catch((error: unknown) => {
      if (failureOf(error) !== 'foreign-key') throw error;
      throw new DomainError('PET_HAS_ORDERS', `Pet ${id} still has orders; cancel them first.`);
    });
    if (!deleted) throw notFound('Pet', id);
    const { pet, quantity } = deleted;
    session.changed({ topic: 'pet', kind: 'DELETED', id, before: pet });
    if (quantity !== null) {
      const before = { petId: id, quantity, status: pet.status, pet };
      session.changed({ topic: 'inventory', kind: 'DELETED', id, before });
    }
    return pet;
  }
}

function filtersOf(filter: PetFilter | null | undefined) {
  return filter
    ? { ids: filter.ids, status: filter.status, categoryId: filter.categoryId, name: nameFilter(filter.name) }
    : {};
}

function unknownCategory(id: bigint): DomainError {
  return unknownReference('input.categoryId', 'Category', id);
}
