import type { Session } from './database';
import type { PetStatus } from './generated/enums';
import { statement } from './statement';
import type { PetRow } from './tables';

const PET = 'pets.id, pets.name, pets.status, pets.category_id as "categoryId"';

const INSERT = statement(
  `insert into pets (name, status, category_id) values ($1, $2::pet_status, $3) returning ${PET}`,
);

const UPDATE = statement(`with before as (
  select id, status, category_id from pets where id = $1 for update
)
update pets set
  name = coalesce($2::text, pets.name),
  status = coalesce($3::pet_status, pets.status),
  category_id = coalesce($4::bigint, pets.category_id)
from before where pets.id = before.id
returning ${PET}, before.status as "statusBefore", before.category_id as "categoryBefore"`);

// Locks the stock before the pet, as an order for it does: otherwise each could wait for the other.
const DELETE = statement(`with stock as (
  select quantity from inventory where pet_id = $1 for update
), pets as (
  delete from pets where id = $1 and (select count(*) from stock) >= 0 returning id, name, status, category_id
)
select ${PET}, stock.quantity, categories.name as "categoryName", categories.description
from pets left join stock on true left join categories on categories.id = pets.category_id`);

/** Inserts a pet. Fails on the foreign key if the category does not exist. */
export async function insertPet(
  session: Session,
  name: string,
  status: PetStatus,
  categoryId: bigint,
): Promise<PetRow> {
  const [pet] = await session.query<PetRow>(INSERT, [name, status, categoryId]);
  return pet as PetRow;
}

export type PetContent = Pick<PetRow, 'name' | 'status' | 'categoryId'>;

/** A pet after an update, and its previous values. */
export interface UpdatedPet {
  readonly pet: PetRow;
  readonly before: Pick<PetRow, 'status' | 'categoryId'>;
}

/**
 * Changes the given fields; `undefined` if the pet does not exist. Fails on the foreign key if the category does not.
 */
export async function updatePet(
  session: Session,
  id: bigint,
  { name, status, categoryId }: Partial<PetContent>,
): Promise<UpdatedPet | undefined> {
  type Row = PetRow & { statusBefore: PetStatus; categoryBefore: bigint };
  const [row] = await session.query<Row>(UPDATE, [id, name ?? null, status ?? null, categoryId ?? null]);
  if (!row) return undefined;
  const { statusBefore, categoryBefore, ...pet } = row;
  return { pet, before: { status: statusBefore, categoryId: categoryBefore } };
}

/**
 * Deletes a pet and its inventory entry; `undefined` if the pet does not exist. Fails on the foreign key if it has
 * orders.
 * @returns the pet with its category, and its last stock, or null if it was not tracked.
 */
export async function deletePet(
  session: Session,
  id: bigint,
): Promise<{ pet: PetRow; quantity: number | null } | undefined> {
  type Row = PetRow & { quantity: number | null; categoryName: string | null; description: string | null };
  const [row] = await session.query<Row>(DELETE, [id]);
  if (!row) return undefined;
  const { quantity, categoryName, description, ...pet } = row;
  // If the pet changed category while this waited for its lock, that category may be newer than this snapshot.
  const category =
    categoryName === null ? undefined : { id: pet.categoryId, name: categoryName, description };
  return { pet: { ...pet, category }, quantity };
}
