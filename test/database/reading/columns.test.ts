import type { Database } from '../../../src/database/database';
import { COLUMNS } from '../../../src/database/generated/columns';
import type { Column } from '../../../src/database/reading/table';
import { statement } from '../../../src/database/statement';
import { createDatabase } from '../../helper/database';

let database: Database;
let drop: () => Promise<void>;
beforeAll(async () => {
  ({ database, drop } = await createDatabase());
});
afterAll(() => drop());

test('the generated columns match the columns of the migrated database', async () => {
  const found = await database.serviceSession().query<{ sql: string; type: string; isNullable: boolean }>(
    statement(`select relname || '.' || attname as sql, not attnotnull as "isNullable",
       replace(format_type(atttypid, null), 'timestamp with time zone', 'timestamptz') as type
     from pg_attribute join pg_class on pg_class.oid = attrelid
     where relnamespace = 'public'::regnamespace and relname = any($1::text[]) and attnum > 0 and not attisdropped`),
    [Object.keys(COLUMNS)],
  );
  const columns: Column[] = Object.values(COLUMNS).flatMap((table) => Object.values(table));
  const expected = columns.map(({ sql, kind, type, isNullable }) =>
    kind === 'other' ? { sql, type: expect.any(String), isNullable: expect.any(Boolean) } : { sql, type, isNullable },
  );
  expect(found).toHaveLength(expected.length);
  expect(found).toEqual(expect.arrayContaining(expected));
});
