import type { Session } from '../database/database';
import { failureOf } from '../database/failures';
import type { PetStatus } from '../database/generated/enums';
import { insertPet } from '../database/insert-pet';
import type { Fields } from '../database/projection';
import { selectByIds } from '../database/select';
import { PETS, type PetRow } from '../database/tables';
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

/** The animals. */
export class PetService {
  /** The pets of `ids`, by id. */
  find(session: Session, ids: readonly bigint[], fields?: Fields): Promise<Map<bigint, PetRow>> {
    return selectByIds(session, PETS, ids, fields);
  }

  async list(
    session: Session,
    filter: PetFilter | null | undefined,
    page: PageArgs,
    fields?: Fields,
  ): Promise<Connection<PetRow>> {
    return connect(session, PETS, { ...page, filters: filtersOf(filter) }, fields);
  }

  /** The same page of the pets of each category. */
  async listByCategory(
    session: Session,
    categories: readonly bigint[],
    filter: PetFilter | null | undefined,
    page: PageArgs,
    fields?: Fields,
  ): Promise<Map<bigint, Connection<PetRow>>> {
    return connectAll(
      session,
      PETS,
      'categoryId',
      categories,
      { ...page, filters: filtersOf(filter) },
      fields,
    );
  }

  /** A pet that is `available` unless the input says otherwise. @throws DomainError `BAD_USER_INPUT`, `UNKNOWN_REFERENCE`. */
  async create(session: Session, input: NewPet): Promise<PetRow> {
    const checks = new Checks();
    const name = checks.name('input.name', input.name);
    checks.done();
    try {
      return await insertPet(session, name, input.status ?? 'available', input.categoryId);
    } catch (error) {
      throw failureOf(error) === 'foreign-key' ? unknownCategory(input.categoryId) : error;
    }
  }

  /** Changes what the input gives. @throws DomainError `BAD_USER_INPUT`, `NOT_FOUND`, `UNKNOWN_REFERENCE`. */
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
    try {
      return await session.prisma.pet.update({ where: { id }, data });
    } catch (error) {
      const failure = failureOf(error);
      if (failure === 'not-found') throw notFound('Pet', id);
      if (failure === 'foreign-key' && categoryId != null) throw unknownCategory(categoryId);
      throw error;
    }
  }

  /** Deletes the pet and its inventory entry. @throws DomainError `NOT_FOUND`, `PET_HAS_ORDERS`. */
  async delete(session: Session, id: bigint): Promise<PetRow> {
    try {
      return await session.transaction((tx) => tx.prisma.pet.delete({ where: { id } }));
    } catch (error) {
      const failure = failureOf(error);
      if (failure === 'not-found') throw notFound('Pet', id);
      if (failure === 'foreign-key') {
        throw new DomainError('PET_HAS_ORDERS', `Pet ${id} still has orders; cancel them first.`);
      }
      throw error;
    }
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
