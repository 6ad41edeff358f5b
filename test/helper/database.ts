import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import type { Database } from '../../src/database/database';
import { connectTo } from '../../src/database/embedded/open-embedded';
import type { GatewayDatabase } from '../../src/database/gateway-database';
import { openDatabase } from '../../src/database/open';
import { statement } from '../../src/database/statement';
import { perWorker } from './per-worker';
import { startPrepared } from './prepared';

/** URL of a PostgreSQL server for the suite, with a role that may create databases. If unset, databases are embedded. */
export const TEST_DATABASE_URL = process.env.TEST_DATABASE_URL;

/** Allows enough time for the statements that fill a database on a busy machine. */
const BOUNDS = { queue: 1000, requestTimeoutMs: 60_000 };

/** Empty databases that no test file uses at present. They are reused because creating a database is slow. */
const idle = perWorker('databases', () => ({ embedded: [] as GatewayDatabase[], urls: [] as string[] }));

/** Returns a migrated, empty database for a test file. `drop` makes the database available to other test files. */
export async function createDatabase(): Promise<{ database: GatewayDatabase; url?: string; drop(): Promise<void> }> {
  return TEST_DATABASE_URL ? onServer(TEST_DATABASE_URL) : embedded();
}

async function embedded() {
  const database = idle.embedded.pop() ?? (await connectTo(await startPrepared(), 'embedded, in memory', BOUNDS));
  return {
    database,
    drop: async () => {
      await truncate(database);
      idle.embedded.push(database);
    },
  };
}

async function onServer(server: string) {
  const url = idle.urls.pop() ?? (await createOn(server));
  const database = await openDatabase({ url, directory: '' });
  return {
    database,
    url,
    drop: async () => {
      await truncate(database);
      await database.close();
      idle.urls.push(url);
    },
  };
}

/** Creates a database on the server. `global.cjs` drops the database at the end of the test run. */
async function createOn(server: string): Promise<string> {
  const name = `${process.env.TEST_DATABASE_PREFIX}${randomBytes(6).toString('hex')}`;
  const client = new Client({ connectionString: server });
  await client.connect();
  try {
    await client.query(`create database ${name}`);
  } finally {
    await client.end();
  }
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

/** Empties every table, so that the database is like new for the next test file. */
export async function truncate(database: Database): Promise<void> {
  const [found] = await database.serviceSession().query<{ names: string }>(TABLES, []);
  await database.serviceSession().query(statement(`truncate ${found?.names} restart identity`), []);
  await database.serviceSession().query(statement('insert into last_event default values'), []);
}

const TABLES = statement(`select string_agg(quote_ident(tablename), ', ') as names from pg_tables
  where schemaname = 'public' and tablename <> '_prisma_migrations'`);

/** Deletes every row except in `api_keys`, and restarts the ids. For few rows, this is ten times as fast as `truncate`. */
export async function emptyDatabase(database: Database): Promise<void> {
  const tables = ['orders', 'inventory', 'pets', 'categories', 'idempotency_keys'];
  const deletes = tables.map((table) => `d_${table} as (delete from ${table})`);
  const restarts = ['orders', 'pets', 'categories'].map((table) => `setval('${table}_id_seq', 1, false)`);
  await database.serviceSession().query(statement(`with ${deletes.join(', ')} select ${restarts.join(', ')}`), []);
}

/** Replaces all rows with two categories, pets 1 to 3, three units of pet 1 in stock, and order 1 for two units of pet 1. */
export async function fillShop(database: Database): Promise<void> {
  await emptyDatabase(database);
  await database.serviceSession().query(
    statement(`with
      c as (insert into categories (id, name, description) values (1, 'Dogs', 'Loyal'), (2, 'Cats', null)),
      p as (insert into pets (id, name, category_id, status)
        values (1, 'Rex', 1, default), (2, 'Bello', 1, 'pending'), (3, 'Tom', 2, 'sold')),
      i as (insert into inventory (pet_id, quantity) values (1, 3)),
      o as (insert into orders (id, pet_id, quantity, reserved) values (1, 1, 2, 2))
      select setval('categories_id_seq', 2), setval('pets_id_seq', 3), setval('orders_id_seq', 1)`),
    [],
  );
}

/**
 * Every row of every table as a line of text, to check that an operation changed nothing. A key's `last_used_at` may change, and
 * events get their positions later.
 */
export async function everyRow(database: Database): Promise<string> {
  const tables = ['categories', 'pets', 'orders', 'inventory', 'idempotency_keys', 'api_keys', 'events'];
  const selects = tables.map(
    (table) => `select '${table} ' || (to_jsonb(t) - 'last_used_at' - 'position')::text as row from ${table} t`,
  );
  const rows = await database
    .serviceSession()
    .query<{ row: string }>(statement(`${selects.join(' union all ')} order by row`), []);
  return rows.map(({ row }) => row).join('\n');
}
