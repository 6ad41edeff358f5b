import type { MigrationConnection } from '../database/migrations';
import { EXACT, migrationsOf, quoted, sequencesOf, tablesOf } from './catalog';
import { BATCH, type Header, type Part, type Sum, type Table } from './parts';
import { Summing } from './summing';

/** Reads everything as of one moment: in one transaction that sees nothing of what others commit meanwhile. */
export async function* readAll(connection: MigrationConnection, source: string): AsyncGenerator<Part> {
  await connection.script(`begin isolation level repeatable read read only; ${EXACT}`);
  try {
    const found = await tablesOf(connection);
    const tables = found.map(({ name, columns }): Table => ({ name, columns }));
    const header: Header = {
      format: 'petstore-backup',
      version: 1,
      createdAt: new Date().toISOString(),
      source,
      migrations: await migrationsOf(connection),
      tables,
      estimate: found.reduce((sum, { estimate }) => sum + estimate, 0),
    };
    yield { header };
    const sums: Record<string, Sum> = {};
    for (const table of tables) {
      const summing = new Summing();
      for await (const rows of rowsOf(connection, table)) {
        for (const row of rows) summing.add(row);
        yield { table: table.name, rows };
      }
      sums[table.name] = summing.result;
    }
    yield { footer: { sums, sequences: await sequencesOf(connection) } };
  } finally {
    await connection.script('rollback').catch(() => undefined);
  }
}

/** The rows of a table in batches, within a transaction. */
export async function* rowsOf(connection: MigrationConnection, { name, columns }: Table): AsyncGenerator<string[]> {
  const texts = columns.map((column) => `${quoted(column.name)}::text`).join(', ');
  await connection.script(
    `declare rows no scroll cursor for select json_build_array(${texts})::text as row from ${quoted(name)}`,
  );
  for (let size = 100; ; ) {
    const rows = (await connection.rows(`fetch ${size} from rows`)).map(({ row }) => String(row));
    if (!rows.length) break;
    yield rows;
    const bytes = rows.reduce((sum, row) => sum + row.length, 0);
    size = Math.min(BATCH.rows, Math.max(1, Math.floor((BATCH.bytes * rows.length) / bytes)));
  }
  await connection.script('close rows');
}
