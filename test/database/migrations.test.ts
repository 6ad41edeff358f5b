import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import type { DatabaseThread } from '../../src/database/embedded/database-thread';
import { migrationsOnEmbedded } from '../../src/database/embedded/open-embedded';
import { MIGRATIONS_DIRECTORY, type MigrationConnection, migrate, migrationsOn } from '../../src/database/migrations';
import { TEST_DATABASE_URL } from '../helper/database';
import { startPrepared } from '../helper/prepared';

const DATABASE = `petstore_migrations_${process.pid}`;
const onPostgres = TEST_DATABASE_URL ? test : test.skip;
const clients: Client[] = [];
let embedded: DatabaseThread;
let connection: MigrationConnection;
let directory: string;

beforeAll(async () => {
  if (TEST_DATABASE_URL) await administer(`create database ${DATABASE}`);
  else embedded = await startPrepared();
});
afterAll(async () => {
  await Promise.all(clients.map((client) => client.end()));
  if (TEST_DATABASE_URL) await administer(`drop database ${DATABASE}`);
  else await embedded.close();
});
beforeEach(async () => {
  connection = await connect();
  await connection.script('drop schema public cascade; create schema public;');
  directory = mkdtempSync(join(tmpdir(), 'petstore-migrations-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

async function connect(): Promise<MigrationConnection> {
  if (!TEST_DATABASE_URL) return migrationsOnEmbedded(embedded.client);
  const client = await open(Object.assign(new URL(TEST_DATABASE_URL), { pathname: `/${DATABASE}` }).href);
  clients.push(client);
  return migrationsOn(client);
}

async function open(connectionString?: string): Promise<Client> {
  const client = new Client({ connectionString }).on('error', () => undefined);
  await client.connect();
  return client;
}

async function administer(sql: string): Promise<void> {
  const client = await open(TEST_DATABASE_URL);
  await client.query(sql);
  await client.end();
}

function write(migrations: Record<string, string>): void {
  for (const [name, sql] of Object.entries(migrations)) {
    mkdirSync(join(directory, name), { recursive: true });
    writeFileSync(join(directory, name, 'migration.sql'), sql);
  }
}

const FIRST = { '1_first': 'create table first (a int);' };
const SECOND = { '2_second': 'create table second (a int);' };

const run = () => migrate(connection, {}, directory);
const ledger = () => connection.rows('select * from _prisma_migrations order by migration_name, started_at');
const locks = (on: MigrationConnection) =>
  on.rows(`select * from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()`);
const tables = async () => {
  const all = `select table_name as name from information_schema.tables where table_schema = 'public' order by 1`;
  return (await connection.rows(all)).map(({ name }) => name).filter((name) => name !== '_prisma_migrations');
};

test('migrations are applied in the order of their names, and recorded in the format of Prisma', async () => {
  write({ '2_second': 'alter table first add column b int; create table second (id int);', ...FIRST });
  writeFileSync(join(directory, 'migration_lock.toml'), 'provider = "postgresql"\n');
  mkdirSync(join(directory, '3_without_a_file'));
  await run();
  expect(await tables()).toEqual(['first', 'second']);
  expect(await ledger()).toEqual([
    {
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      checksum: createHash('sha256').update(FIRST['1_first']).digest('hex'),
      finished_at: expect.anything(),
      migration_name: '1_first',
      logs: null,
      rolled_back_at: null,
      started_at: expect.anything(),
      applied_steps_count: 1,
    },
    expect.objectContaining({ migration_name: '2_second', finished_at: expect.anything() }),
  ]);
});

test('an applied migration is not applied again when a new migration is added', async () => {
  write(FIRST);
  await run();
  const before = await ledger();
  await run();
  expect(await ledger()).toEqual(before);
  write(SECOND);
  await run();
  expect(await tables()).toEqual(['first', 'second']);
  expect((await ledger())[0]).toEqual(before[0]);
});

test('a migration that fails is rolled back and recorded, and runs again at the next start', async () => {
  const failing = 'create table second (a int); create table first (a int);';
  write({ ...FIRST, '2_second': failing, '3_third': 'create table third (a int);' });
  await expect(run()).rejects.toThrow(/^Migration 2_second failed: relation "first" already exists$/);
  const logs = 'relation "first" already exists';
  expect(await ledger()).toMatchObject([
    { migration_name: '1_first', finished_at: expect.anything() },
    { migration_name: '2_second', finished_at: null, applied_steps_count: 0, logs, rolled_back_at: expect.anything() },
  ]);
  await expect(run()).rejects.toThrow(/^Migration 2_second failed: relation "first" already exists$/);
  expect(await tables()).toEqual(['first']);
  expect(await locks(connection)).toEqual([]);
});

test('a migration is applied once its reason to fail is gone, without a repair of the table of migrations', async () => {
  write({ ...FIRST, '2_second': 'create table second (a int); insert into third values (1);' });
  await expect(run()).rejects.toThrow('Migration 2_second failed: relation "third" does not exist');
  await connection.script('create table third (a int)');
  await run();
  expect(await tables()).toEqual(['first', 'second', 'third']);
});

test('a failure that the previous version recorded does not block the start, but a failure of the Prisma CLI does', async () => {
  write(FIRST);
  await run();
  await connection.script("drop table first; update _prisma_migrations set finished_at = null, logs = 'lock timeout'");
  await connection.script('update _prisma_migrations set applied_steps_count = 0');
  await run();
  expect(await tables()).toEqual(['first']);
  await connection.script('delete from _prisma_migrations where finished_at is null');
  await connection.script(
    "update _prisma_migrations set finished_at = null, logs = 'A migration failed to apply. New migrations cannot be applied'",
  );
  await expect(run()).rejects.toThrow(/^Migration 1_first failed earlier\. .*rolled back\.$/);
});

test.each([
  ["raise exception 'permission denied' using errcode = '42501'", /permission denied\. Grant the role of DATABASE_URL/],
  ["raise exception 'lock timeout' using errcode = '55P03'", /lock timeout\. .*Start again\.$/],
  ["raise exception 'no gin_trgm_ops' using errcode = '42704'", /search_path\.$/],
])('the error says what to do: %s', async (statement, remedy) => {
  write({ '1_first': `do $$ begin ${statement}; end $$;` });
  await expect(run()).rejects.toThrow(remedy);
});

test('a failed migration is applied after its SQL is repaired', async () => {
  write({ '1_first': `${FIRST['1_first']} select 1 / 0;` });
  await expect(run()).rejects.toThrow('Migration 1_first failed: division by zero');
  write(FIRST);
  await run();
  await run();
  expect(await tables()).toEqual(['first']);
  expect((await ledger()).map((row) => row.finished_at !== null).sort()).toEqual([false, true]);
  expect(await locks(connection)).toEqual([]);
});

test('a migration with a syntax error fails', async () => {
  write({ '1_first': 'create tabel first (a int);' });
  await expect(run()).rejects.toThrow(/^Migration 1_first failed: syntax error/);
});

const onEmbedded = TEST_DATABASE_URL ? test.skip : test;
onEmbedded('a migration with COPY FROM STDIN fails with one line, and the database still works', async () => {
  write({ ...FIRST, '2_second': 'insert into first values (1);\ncopy first (a)\n  FROM stdin;' });
  await expect(run()).rejects.toThrow(
    /^Migration 2_second failed: the embedded database cannot run COPY FROM STDIN; use INSERT$/,
  );
  expect(await connection.rows('select count(*)::int as count from first')).toEqual([{ count: 0 }]);
});

test('if an applied migration was changed, the start fails, and no new migration is applied', async () => {
  write(FIRST);
  await run();
  write({ '1_first': 'create table first (a bigint);', ...SECOND });
  await expect(run()).rejects.toThrow(/^Migration 1_first was changed after it had been applied\.$/);
  expect(await tables()).toEqual(['first']);
});

onPostgres('an interrupted migration is neither applied nor recorded', async () => {
  await run();
  write({ '1_first': `${FIRST['1_first']} select pg_terminate_backend(pg_backend_pid());` });
  await expect(run()).rejects.toThrow(/^Migration 1_first failed: /);
  connection = await connect();
  expect([await tables(), await ledger()]).toEqual([[], []]);
  write(FIRST);
  await run();
  expect(await tables()).toEqual(['first']);
});

onPostgres('migrations work behind a pooler that uses another connection for each transaction', async () => {
  write({ ...FIRST, '2_second': 'create table second (a int); select 1 / 0;' });
  const servers = await Promise.all([connect(), connect(), connect()]);
  let transactions = 0;
  const current = () => servers[transactions % servers.length] as MigrationConnection;
  const pooled: MigrationConnection = {
    rows: (sql, values) => current().rows(sql, values),
    script: async (sql) => {
      await current().script(sql);
      if (sql === 'commit' || sql === 'rollback') transactions++;
    },
  };
  await expect(migrate(pooled, {}, directory)).rejects.toThrow('Migration 2_second failed: division by zero');
  expect(transactions).toBeGreaterThan(2);
  expect(await tables()).toEqual(['first']);
  expect(await ledger()).toHaveLength(2);
  for (const server of servers) {
    expect(await locks(server)).toEqual([]);
    expect(await server.rows('show statement_timeout')).toEqual(await connection.rows('show statement_timeout'));
  }
});

onPostgres('instances that start at the same time apply each migration once', async () => {
  const names = Array.from({ length: 5 }, (_, index) => `slow_${index}`);
  write(Object.fromEntries(names.map((name) => [name, `create table ${name} (a int); select pg_sleep(0.02);`])));
  const instances = await Promise.all(Array.from({ length: 6 }, connect));
  await Promise.all(instances.map((instance) => migrate(instance, {}, directory)));
  expect(await tables()).toEqual(names);
  expect(await ledger()).toHaveLength(5);
});

test('a database of the previous version keeps its usage, and loses the table that only older versions used', async () => {
  const last = '20261128000000_usage_without_flushes';
  cpSync(MIGRATIONS_DIRECTORY, directory, { recursive: true, filter: (path) => !path.includes(last) });
  await migrate(connection, {}, directory);
  await connection.script(`insert into usage_days (caller, day, requests) values ('', date '2026-11-27', 7);
    insert into usage_flushes (process, number, flushed_at) values ('a', 1, now())`);
  await migrate(connection);
  expect(
    await connection.rows("select requests::text, to_regclass('usage_flushes') as dropped from usage_days"),
  ).toEqual([{ requests: '7', dropped: null }]);
});

const TIMES = '20261128010000_times';
/** Applies all migrations before the one that adds the times. */
const migrateToVersionBefore = () => {
  for (const name of readdirSync(MIGRATIONS_DIRECTORY).filter((each) => each < TIMES))
    cpSync(join(MIGRATIONS_DIRECTORY, name), join(directory, name), { recursive: true });
  return migrate(connection, {}, directory);
};

test('rows of the previous version get no times until they are written, and instances of that version may write beside', async () => {
  await migrateToVersionBefore();
  await connection.script(
    `insert into categories (name) values ('Dogs'); insert into pets (name, category_id) values ('Rex', 1)`,
  );
  const times = () => connection.rows('select created_at, updated_at from pets order by id');
  const files = await connection.rows("select pg_relation_filenode('pets')::text as node");
  await migrate(connection);
  expect(await times()).toEqual([{ created_at: null, updated_at: null }]);
  expect(await connection.rows("select pg_relation_filenode('pets')::text as node")).toEqual(files);

  // The statements of the previous version do not mention the times.
  await connection.script(
    `insert into pets (name, category_id) values ('Bello', 1); update pets set name = 'Rexi' where id = 1`,
  );
  expect(await times()).toEqual([
    { created_at: null, updated_at: expect.any(Date) },
    { created_at: expect.any(Date), updated_at: expect.any(Date) },
  ]);
});

onPostgres(
  'the migration that adds the times blocks no reads or writes while it waits for a long transaction',
  async () => {
    await migrateToVersionBefore();
    await connection.script("insert into categories (name) values ('Dogs')");
    const [long, other] = await Promise.all([connect(), connect()]);
    await long.script('begin; select * from categories');
    let isMigrated = false;
    const migrating = migrate(connection).then(() => {
      isMigrated = true;
    });
    for (let i = 0; i < 20; i++) {
      const started = performance.now();
      await other.script("insert into categories (name) values ('Cats')");
      expect(performance.now() - started).toBeLessThan(2000);
      await sleep(100);
    }
    expect(isMigrated).toBe(false);
    await long.script('commit');
    await migrating;
    expect(await connection.rows('select count(created_at)::int as count from categories')).toEqual([{ count: 0 }]);
  },
);
