import { readdirSync, readFileSync } from 'node:fs';
import pg from 'pg';

export const CATEGORIES = 50;
export const PETS = 10_000;
export const ORDERS = 5_000;
/** More stock than any run uses up. */
const STOCK = 1_000_000_000;

const admin = process.env.BENCH_DATABASE_URL ?? 'postgresql://postgres@127.0.0.1:5432/postgres';
const migrations = new URL('../../prisma/migrations/', import.meta.url);

/** The URL of the benchmark's own database. */
export function databaseUrl(name) {
  const url = new URL(admin);
  url.pathname = `/${name}`;
  return url.href;
}

/** Creates an empty database. Drops an existing database with this name first. */
export async function createDatabase(name) {
  await dropDatabase(name);
  await run(admin, `create database ${pg.escapeIdentifier(name)}`);
}

export async function dropDatabase(name) {
  await run(admin, `drop database if exists ${pg.escapeIdentifier(name)} with (force)`);
}

/** Applies the gateway's schema, for a run without the gateway (which migrates an empty database itself). */
export async function applyMigrations(url) {
  for (const name of readdirSync(migrations).sort()) {
    if (!name.includes('.')) await run(url, readFileSync(new URL(`${name}/migration.sql`, migrations), 'utf8'));
  }
}

/**
 * Inserts the same rows on every run. Disables autovacuum, which would slow only the servers that are measured while it runs.
 * `restore` vacuums instead.
 */
export async function fill(url) {
  await run(url, ROWS);
  await run(url, 'vacuum analyze');
}

/** Inserts the same rows into a data directory of the embedded database. No server may have it open. */
export async function fillDirectory(directory) {
  const { openDatabase } = await import('../../dist/database/open.js');
  const database = await openDatabase({ directory });
  for (const text of [...ROWS.split(';'), 'analyze'])
    if (text.trim()) await database.serviceSession().write({ name: '', text }, []);
  await database.close();
}

const ROWS = `alter table pets set (autovacuum_enabled = false);
     alter table orders set (autovacuum_enabled = false);
     alter table inventory set (autovacuum_enabled = false);
     insert into categories (name, description)
       select 'Category ' || i, 'Pets of kind ' || i from generate_series(1, ${CATEGORIES}) as i;
     insert into pets (name, status, category_id)
       select 'Pet ' || i, (array['available', 'pending', 'sold']::pet_status[])[1 + i % 3], 1 + i % ${CATEGORIES}
       from generate_series(1, ${PETS}) as i;
     insert into inventory (pet_id, quantity) select id, ${STOCK} from pets;
     insert into orders (pet_id, quantity, ship_date, complete)
       select 1 + i * 2 % ${PETS}, 1 + i % 5, timestamptz '2026-01-01T00:00:00Z' + i * interval '1 hour', i % 2 = 0
       from generate_series(1, ${ORDERS}) as i;`;

/** Undoes the writes of a workload, so that the next workload starts from the same tables. */
export async function restore(url) {
  await run(
    url,
    `delete from orders where id > ${ORDERS};
     delete from pets where id > ${PETS};
     update inventory set quantity = ${STOCK} where quantity <> ${STOCK};`,
  );
  await run(url, 'vacuum analyze');
}

/** The totals that a write must change: the number of pets and orders, and the units sold. */
export async function totals(url) {
  const [row] = await run(
    url,
    `select (select count(*) from pets)::int as pets, (select count(*) from orders)::int as orders,
            (select sum(${STOCK} - quantity) from inventory)::int as sold`,
  );
  return row;
}

/** The PostgreSQL version, in one line. */
export async function serverVersion() {
  const [{ server_version }] = await run(admin, 'show server_version');
  return `PostgreSQL ${server_version.split(' ')[0]}`;
}

async function run(connectionString, sql) {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}
