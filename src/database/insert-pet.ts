import type { Session } from './database';
import type { PetStatus } from './generated/enums';
import { statement } from './statement';
import type { PetRow } from './tables';

const INSERT = statement(
  'insert into pets (name, status, category_id) values ($1, $2::pet_status, $3) ' +
    'returning id, name, status, category_id as "categoryId"',
);

/** Inserts a pet. Fails on the foreign key when there is no such category. */
export async function insertPet(
  session: Session,
  name: string,
  status: PetStatus,
  categoryId: bigint,
): Promise<PetRow> {
  const [pet] = await session.query<PetRow>(INSERT, [name, status, categoryId]);
  return pet as PetRow;
}
