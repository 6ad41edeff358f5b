import { isDeepStrictEqual } from 'node:util';
import { type MigrationConnection, migrate, migrationNames } from '../database/migrations';
import { EXACT, quoted, tablesOf } from './catalog';
import type { Footer, Header, Part, Table } from './parts';
import { rowsOf } from './read-rows';
import { Summing } from './summing';

/**
 * Loads a backup into an empty database, all of it or nothing, and reads it again to compare counts and checksums.
 * @param onProgress called with the number of rows loaded and about how many there are.
 * @returns what was loaded.
 * @throws Error with a one-line message: the database is not empty, the backup is of a newer version, not complete, or has
 * other rows than were read again.
 */
export async function loadAll(
  connection: MigrationConnection,
  parts: AsyncIterable<Part>,
  onProgress: (done: number, total: number) => void,
): Promise<Footer['sums']> {
  let header: Header | undefined;
  let footer: Footer | undefined;
  let done = 0;
  try {
    for await (const part of parts) {
      if ('header' in part) {
        header = part.header;
        await prepare(connection, header);
      } else if ('footer' in part) {
        footer = part.footer;
      } else {
        await insert(connection, tableNamed(header, part.table), part.rows);
        done += part.rows.length;
        onProgress(done, Math.max(done, header?.estimate ?? 0));
      }
    }
    if (!header || !footer) throw new Error('the backup is not complete: its end is missing');
    for (const [name, last] of Object.entries(footer.sequences))
      await connection.rows('select setval($1::regclass, $2::bigint)', [quoted(name), last]);
    await verify(connection, header, footer);
    await connection.script('commit');
  } catch (error) {
    await connection.script('rollback').catch(() => undefined);
    throw error;
  }
  // What newer versions have changed since the backup.
  await migrate(connection);
  await connection.script('analyze');
  return footer.sums;
}

/** Makes the tables as they were where the backup was made, and begins the transaction. */
async function prepare(connection: MigrationConnection, { format, version, migrations }: Header): Promise<void> {
  if (format !== 'petstore-backup' || version !== 1) throw new Error('it is not a backup that this version can read');
  const known = migrationNames();
  const unknown = migrations.find((name) => !known.includes(name));
  if (unknown) throw new Error(`the backup is of a newer version of the gateway, which has the migration ${unknown}`);
  for (const { name } of await tablesOf(connection)) {
    const [row] = await connection.rows(`select from ${quoted(name)} limit 1`);
    if (row) throw new Error(`the database is not empty: ${name} has rows. Restore into an empty one`);
  }
  await migrate(connection, undefined, migrations);
  await connection.script(`begin; ${EXACT}`);
}

function tableNamed(header: Header | undefined, name: string): Table {
  const table = header?.tables.find((one) => one.name === name);
  if (!table) throw new Error(`the backup is damaged: it has rows of ${name}, and no such table`);
  return table;
}

async function insert(
  connection: MigrationConnection,
  { name, columns }: Table,
  rows: readonly string[],
): Promise<void> {
  const names = columns.map((column) => quoted(column.name)).join(', ');
  const values = columns.map(({ type }, index) => `(value->>${index})::${type}`).join(', ');
  const sql = `insert into ${quoted(name)} (${names}) select ${values} from json_array_elements($1::json) value`;
  await connection.rows(sql, [`[${rows.join(',')}]`]);
}

async function verify(connection: MigrationConnection, { tables }: Header, { sums }: Footer): Promise<void> {
  for (const table of tables) {
    const summing = new Summing();
    for await (const rows of rowsOf(connection, table)) for (const row of rows) summing.add(row);
    const [is, was] = [summing.result, sums[table.name]];
    if (isDeepStrictEqual(is, was)) continue;
    throw new Error(
      `${table.name} was not restored exactly: ${is.rows} rows (${is.checksum}) instead of ${was?.rows} (${was?.checksum})`,
    );
  }
}
