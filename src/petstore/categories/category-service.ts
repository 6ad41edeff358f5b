import type { Session, Transaction } from '../../database/database';
import { foreignKeyOf } from '../../database/failures';
import { COLUMNS } from '../../database/generated/columns';
import { insertParts } from '../../database/insert-parts';
import type { JsonText } from '../../database/reading/json-text';
import { selectOne } from '../../database/reading/select';
import type { FieldSelection, PageSelection, RowSelection } from '../../database/reading/selection';
import { lockRow } from '../../database/row-locks';
import { convertForeignKeys, notFound } from '../../errors/errors';
import { type Precondition, requireUnchanged } from '../../errors/precondition';
import { checkInput } from '../../graphql/bounds';
import { type PageArgs, type PageResult, readConnection } from '../../graphql/connection';
import { PetstoreError } from '../errors';
import { type CategoryFilter, CategoryUpdate, NewCategory } from '../inputs';
import { CATEGORIES, type CategoryRow, LOCK, publishChange } from '../model';
import { insertBySelection, withVersion } from '../row-metadata';

// As in pets/pet-service.ts, uses a prepared statement, which costs less than Prisma's `create`.
const { id: ID, createdAt: _, updatedAt: __, ...columns } = COLUMNS.categories;
const CATEGORY_PARTS = insertParts(columns);
const insertFor = insertBySelection<Pick<CategoryRow, 'id'>>(CATEGORIES, {
  insert: `insert into categories (${CATEGORY_PARTS.names}) values (${CATEGORY_PARTS.placeholders})`,
  returning: { id: ID.sql },
  parameters: CATEGORY_PARTS.fields.length,
  events: [{ topic: 'category', kind: 'CREATED', from: 'written', objectId: 'id' }],
});

/** Reads and writes categories, the kinds of pets. */
export class CategoryService {
  /** Reads one category, as JSON text if the selection asks for JSON. */
  get(session: Session, id: bigint, selection: RowSelection): Promise<CategoryRow | JsonText | undefined> {
    return selectOne(session, CATEGORIES, id, selection);
  }

  async list(
    session: Session,
    filter: CategoryFilter | null | undefined,
    page: PageArgs,
    selection?: PageSelection,
  ): Promise<PageResult<CategoryRow>> {
    return readConnection(session, CATEGORIES, page, filter, selection);
  }

  /** @throws ProblemError `BAD_USER_INPUT`. */
  async create(session: Session, input: NewCategory, selection?: FieldSelection): Promise<CategoryRow> {
    const { name, description = null } = checkInput(NewCategory, input);
    const category = { name, description };
    const values = CATEGORY_PARTS.fields.map((field) => category[field]);
    const inserted = (await insertFor(selection).run(session, values)) as Pick<CategoryRow, 'id'>;
    return { ...inserted, ...category };
  }

  /** @throws ProblemError `BAD_USER_INPUT`, `NOT_FOUND`, `PRECONDITION_FAILED`. */
  async update(
    session: Session,
    id: bigint,
    input: CategoryUpdate,
    precondition?: Precondition,
    selection?: FieldSelection,
  ): Promise<CategoryRow> {
    const data = checkInput(CategoryUpdate, input);
    return session.transaction(async (tx) => {
      const { name } = await lockCategory(tx, id, precondition);
      // Without a value Prisma would write nothing, so the version would stay.
      const updated = await tx.prisma.category.update({ where: { id }, data: { name, ...data } });
      publishChange(tx, { topic: 'category', kind: 'UPDATED', id });
      return withVersion<CategoryRow>(tx, CATEGORIES, updated, selection);
    });
  }

  /** @throws ProblemError `NOT_FOUND`, `PRECONDITION_FAILED`, `CATEGORY_NOT_EMPTY`. */
  async delete(session: Session, id: bigint, precondition?: Precondition): Promise<CategoryRow> {
    const write = session.transaction(async (tx) => {
      const category = await lockCategory(tx, id, precondition);
      await tx.prisma.category.delete({ where: { id } });
      publishChange(tx, { topic: 'category', kind: 'DELETED', id, before: category });
      return category;
    });
    return convertForeignKeys(write, {
      [foreignKeyOf(COLUMNS.pets.categoryId)]: () =>
        new PetstoreError('CATEGORY_NOT_EMPTY', `Category ${id} still has pets; move or delete them first.`),
    });
  }
}

/** Locks a category until the transaction ends. @throws ProblemError `NOT_FOUND`, `PRECONDITION_FAILED`. */
async function lockCategory(tx: Transaction, id: bigint, precondition?: Precondition): Promise<CategoryRow> {
  const category = await lockRow(tx, LOCK.category, id);
  if (!category) throw notFound('Category', id);
  await requireUnchanged(tx, precondition, `Category ${id}`, () => category);
  return category;
}
