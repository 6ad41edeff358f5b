import type { Database } from '../../src/database/database';
import { COLUMNS } from '../../src/database/generated/columns';
import { selectByIds } from '../../src/database/reading/select';
import type { Column, Table } from '../../src/database/reading/table';
import { statement } from '../../src/database/statement';
import { createDatabase } from '../helper/database';

let database: Database;
let drop: () => Promise<void>;
beforeAll(async () => {
  ({ database, drop } = await createDatabase());
});
afterAll(() => drop());

const sql = <Row>(text: string, ...values: unknown[]) => database.query<Row>(statement(text), values);

test('the columns that statements use are those of the migrated database', async () => {
  const found = await sql<{ sql: string; type: string; isNullable: boolean }>(
    `select relname || '.' || attname as sql, not attnotnull as "isNullable",
       replace(format_type(atttypid, null), 'timestamp with time zone', 'timestamptz') as type
     from pg_attribute join pg_class on pg_class.oid = attrelid
     where relnamespace = 'public'::regnamespace and relname = any($1::text[]) and attnum > 0 and not attisdropped`,
    Object.keys(COLUMNS),
  );
  const columns: Column[] = Object.values(COLUMNS).flatMap((table) => Object.values(table));
  const expected = columns.map(({ sql, kind, type, isNullable }) =>
    kind === 'other' ? { sql, type: expect.any(String), isNullable: expect.any(Boolean) } : { sql, type, isNullable },
  );
  expect(found).toHaveLength(expected.length);
  expect(found).toEqual(expect.arrayContaining(expected));
});

test('every kind of column can be read as it is and as JSON, with a value and without', async () => {
  const kinds = { text: 'text', enum: 'pet_status', integer: 'integer', boolean: 'boolean', id: 'bigint' };
  const times = { timestamptz: 'timestamp', date: 'date' } as const;
  const column = (name: string, kind: Column['kind'], type: string, isNullable = true): Column => ({
    sql: `samples.${name}`,
    kind,
    type,
    isNullable,
  });
  const columns: Record<string, Column> = { key: column('key', 'id', 'bigint', false) };
  for (const [kind, type] of Object.entries(kinds)) columns[kind] = column(`a_${kind}`, kind as 'id', type);
  for (const [type, kind] of Object.entries(times)) columns[type] = column(`a_${type}`, kind, type);
  const table: Table<Record<string, unknown>> = {
    name: 'samples',
    idField: 'key',
    columns,
    relations: {},
    orders: {},
    filters: {},
    idOf: (row) => row.key as bigint,
  };
  const definitions = Object.values(columns).map(({ sql, type }) => `${sql.replace('samples.', '')} ${type}`);
  await sql(`create table samples (${definitions.join(', ')})`);
  try {
    const values = `1, 'a "text"', 'sold', 7, true, 9007199254740993, '2026-11-22T10:00:00.5Z', '2026-11-22'`;
    await sql(`insert into samples values (${values}), (2${', null'.repeat(7)})`);
    const rows = await selectByIds(database, table, [1n, 2n]);
    expect(rows.get(1n)).toEqual({
      key: 1n,
      text: 'a "text"',
      enum: 'sold',
      integer: 7,
      boolean: true,
      id: 9007199254740993n,
      timestamptz: new Date('2026-11-22T10:00:00.5Z'),
      date: new Date('2026-11-22T00:00:00Z'),
    });
    // As GraphQL's scalars serialize them.
    const dateOf = (row: Record<string, unknown>) => (row.date as Date | null)?.toISOString().slice(0, 10) ?? null;
    const members = Object.keys(columns).map((field) => ({ key: field, field }));
    const json = await selectByIds(database, table, [1n, 2n], {
      fields: new Map(),
      json: { ids: 'string', nulls: 'null', members },
    });
    for (const [id, row] of rows) {
      const expected = JSON.stringify({ ...row, date: dateOf(row) }, (_, value) =>
        typeof value === 'bigint' ? String(value) : value,
      );
      expect(JSON.parse(String(json.get(id)?.$json))).toEqual(JSON.parse(expected));
    }
  } finally {
    await sql('drop table samples');
  }
});
