import type { MigrationConnection } from '../database/migrations';
import type { Table } from './parts';

/** Texts that mean the same wherever they are read. */
export const EXACT =
  "set timezone to 'UTC'; set datestyle to 'ISO'; set bytea_output to 'hex'; set statement_timeout to 0";

const TABLES = `select c.relname as name,
  (select json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, a.atttypmod)) order by a.attnum)
     from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped) as columns,
  array(select f.relname::text from pg_constraint k join pg_class f on f.oid = k.confrelid
     where k.conrelid = c.oid and k.contype = 'f') as parents,
  greatest(c.reltuples, 0)::float8 as estimate
from pg_class c where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace and c.relname <> '_prisma_migrations'
order by c.relname`;

interface Found extends Table {
  readonly parents: readonly string[];
  readonly estimate: number;
}

/** The tables of the database, whatever the migrations have made; those that others refer to come first. */
export async function tablesOf(connection: MigrationConnection): Promise<Found[]> {
  const left = (await connection.rows(TABLES)) as unknown as Found[];
  const tables: Found[] = [];
  while (left.length) {
    const next = left.findIndex(({ parents }) => !left.some(({ name }) => parents.includes(name)));
    tables.push(...left.splice(Math.max(next, 0), 1));
  }
  return tables;
}

/** The last id that each sequence has given out. */
export async function sequencesOf(connection: MigrationConnection): Promise<Record<string, string>> {
  const rows = await connection.rows(
    'select sequencename::text as name, last_value::text as last from pg_sequences where schemaname = current_schema() and last_value is not null',
  );
  return Object.fromEntries(rows.map(({ name, last }) => [name, last]));
}

/** The names of the applied migrations; empty for a database that has had none. */
export async function migrationsOf(connection: MigrationConnection): Promise<string[]> {
  const [found] = await connection.rows("select to_regclass('_prisma_migrations') is not null as exists");
  if (!found?.exists) return [];
  const applied = 'select migration_name as name from _prisma_migrations where finished_at is not null order by 1';
  return (await connection.rows(applied)).map(({ name }) => String(name));
}

/** @param name a table or column of the database. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
