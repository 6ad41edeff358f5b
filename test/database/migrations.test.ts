import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PGlite } from '@electric-sql/pglite';
import { Client } from 'pg';
import { type MigrationConnection, migrate } from '../../src/database/migrations';
import { TEST_DATABASE_URL } from '../helper/database';
import { startMigrated } from '../helper/prepared';

const DATABASE = `petstore_migrations_${process.pid}`;
let engine: PGlite;
const clients: Client[] = [];
let connection: MigrationConnection;
let directory: string;

beforeAll(async () => {
  if (TEST_DATABASE_URL) await administer(`create database ${DATABASE}`);
  else engine = await startMigrated();
});
afterAll(async () => {
  await Promise.all(clients.map((client) => client.end()));
  if (TEST_DATABASE_URL) await administer(`drop database ${DATABASE}`);
  else await engine.close();
});
beforeEach(async () => {
  connection = await connect();
  await connection.script('drop schema public cascade; create schema public;');
  directory = mkdtempSync(join(tmpdir(), 'petstore-migrations-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

/** A separate connection; the embedded database has only one. */
async function connect(): Promise<MigrationConnection> {
  if (!TEST_DATABASE_URL) {
    return {
      script: async (sql) => void (await engine.exec(sql)),
      rows: async (sql, values) => (await engine.query<Record<string, unknown>>(sql, values)).rows,
    };
  }
  const url = new URL(TEST_DATABASE_URL);
  url.pathname = `/${DATABASE}`;
  const client = new Client({ connectionString: url.href });
  client.on('error', () => undefined); // from a connection that a test terminates
  await client.connect();
  clients.push(client);
  return {
    script: async (sql) => void (await client.query(sql)),
    rows: async (sql, values) => (await client.query(sql, values)).rows,
  };
}

async function administer(sql: string): Promise<void> {
  const client = new Client({ connectionString: TEST_DATABASE_URL });
  await client.connect();
  await client.query(sql);
  await client.end();
}

function write(name: string, sql: string): void {
  mkdirSync(join(directory, name), { recursive: true });
  writeFileSync(join(directory, name, 'migration.sql'), sql);
}

const run = () => migrate(connection, directory);
const ledger = () => connection.rows('select * from _prisma_migrations order by migration_name, started_at');
const tables = async () => {
  const found = await connection.rows(
    `select table_name as name from information_schema.tables where table_schema = 'public' and table_name <> '_prisma_migrations' order by 1`,
  );
  return found.map((row) => row.name);
};

describe('migrations', () => {
  test('of a fresh database are applied in order of name, and recorded as by Prisma', async () => {
    write('2_second', 'alter table first add column b int; create table second (id int);');
    write('1_first', 'create table first (a int);');
    writeFileSync(join(directory, 'migration_lock.toml'), 'provider = "postgresql"\n');
    mkdirSync(join(directory, '3_without_a_file'));
    await run();
    expect(await tables()).toEqual(['first', 'second']);
    expect(await ledger()).toEqual([
      {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        checksum: createHash('sha256').update('create table first (a int);').digest('hex'),
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

  test('are applied once; a later one is applied alone', async () => {
    write('1_first', 'create table first (a int);');
    await run();
    const before = await ledger();
    await run();
    expect(await ledger()).toEqual(before);
    write('2_second', 'create table second (a int);');
    await run();
    expect(await tables()).toEqual(['first', 'second']);
    expect((await ledger())[0]).toEqual(before[0]);
  });

  test('that fail leave only their record, and stop this start and every later one', async () => {
    write('1_first', 'create table first (a int);');
    write('2_second', 'create table second (a int); create table first (a int);');
    write('3_third', 'create table third (a int);');
    await expect(run()).rejects.toThrow(/^Migration 2_second failed: relation "first" already exists$/);
    expect(await tables()).toEqual(['first']);
    expect(await ledger()).toEqual([
      expect.objectContaining({ migration_name: '1_first', finished_at: expect.anything() }),
      expect.objectContaining({
        migration_name: '2_second',
        finished_at: null,
        applied_steps_count: 0,
        logs: 'relation "first" already exists',
      }),
    ]);
    await expect(run()).rejects.toThrow(/^Migration 2_second failed earlier\. .*rolled back\.$/);
    expect(await tables()).toEqual(['first']);
  });

  test('that failed are applied once repaired and marked as rolled back', async () => {
    write('1_first', 'create table first (a int); select 1 / 0;');
    await expect(run()).rejects.toThrow('Migration 1_first failed: division by zero');
    await connection.rows('update _prisma_migrations set rolled_back_at = now()');
    write('1_first', 'create table first (a int);');
    await run();
    expect(await tables()).toEqual(['first']);
    await run();
    expect((await ledger()).map((row) => row.finished_at !== null).sort()).toEqual([false, true]);
  });

  test('that do not parse fail like others', async () => {
    write('1_first', 'create tabel first (a int);');
    await expect(run()).rejects.toThrow(/^Migration 1_first failed: syntax error/);
    await expect(run()).rejects.toThrow('failed earlier');
  });

  test('that were changed after they had been applied stop the start, and nothing more is applied', async () => {
    write('1_first', 'create table first (a int);');
    await run();
    write('1_first', 'create table first (a bigint);');
    write('2_second', 'create table second (a int);');
    await expect(run()).rejects.toThrow(/^Migration 1_first was changed after it had been applied\.$/);
    expect(await tables()).toEqual(['first']);
  });

  test('leave no lock behind, whether they succeed or fail', async () => {
    write('1_first', 'select 1 / 0;');
    await expect(run()).rejects.toThrow();
    rmSync(join(directory, '1_first'), { recursive: true });
    await connection.rows('delete from _prisma_migrations');
    await run();
    expect(
      await connection.rows(`select * from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()`),
    ).toEqual([]);
  });

  const onPostgres = TEST_DATABASE_URL ? test : test.skip;
  onPostgres('that are interrupted are neither applied nor recorded', async () => {
    await run();
    write('1_first', 'create table first (a int); select pg_terminate_backend(pg_backend_pid());');
    await expect(run()).rejects.toThrow(/^Migration 1_first failed: /);
    connection = await connect();
    expect(await tables()).toEqual([]);
    expect(await ledger()).toEqual([]);
    write('1_first', 'create table first (a int);');
    await run();
    expect(await tables()).toEqual(['first']);
  });

  onPostgres('do not depend on one connection: a pooler may use another for each transaction', async () => {
    write('1_first', 'create table first (a int);');
    write('2_second', 'create table second (a int); select 1 / 0;');
    const servers = await Promise.all([connect(), connect(), connect()]);
    let turn = 0;
    const current = () => servers[turn % servers.length] as MigrationConnection;
    const pooled: MigrationConnection = {
      rows: (sql, values) => current().rows(sql, values),
      script: async (sql) => {
        await current().script(sql);
        if (sql === 'commit' || sql === 'rollback') turn++;
      },
    };
    await expect(migrate(pooled, directory)).rejects.toThrow('Migration 2_second failed: division by zero');
    expect(turn).toBeGreaterThan(2);
    expect(await tables()).toEqual(['first']);
    expect(await ledger()).toHaveLength(2);
    for (const server of servers) {
      const locks = `select * from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()`;
      expect(await server.rows(locks)).toEqual([]);
      expect(await server.rows('show statement_timeout')).toEqual(await connection.rows('show statement_timeout'));
    }
  });

  onPostgres('of instances that start together are applied once', async () => {
    for (let index = 0; index < 5; index++) {
      write(`${index}_slow`, `create table slow_${index} (a int); select pg_sleep(0.02);`);
    }
    const instances = await Promise.all(Array.from({ length: 6 }, connect));
    await Promise.all(instances.map((instance) => migrate(instance, directory)));
    expect(await tables()).toEqual(['slow_0', 'slow_1', 'slow_2', 'slow_3', 'slow_4']);
    expect(await ledger()).toHaveLength(5);
  });
});
