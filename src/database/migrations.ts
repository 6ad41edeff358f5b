import { createHash, randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import { reasonOf } from './failures';
import { BEGIN, withoutTimeLimits } from './session-settings';

/** A driver's connection: `script` runs several statements, `rows` runs one query on the same connection. */
export interface MigrationConnection {
  script(sql: string): Promise<void>;
  rows(sql: string, values?: unknown[]): Promise<Record<string, unknown>[]>;
}

export function migrationsOn(client: Client): MigrationConnection {
  return {
    script: async (sql) => void (await client.query(sql)),
    rows: async (sql, values) => (await client.query(sql, values)).rows,
  };
}

/** The migrations directory; `src` and `dist` are one level below the project root. */
export const MIGRATIONS_DIRECTORY = join(__dirname, '..', '..', 'prisma', 'migrations');

/**
 * The advisory lock that Prisma's CLI takes. Each instance takes this lock before it migrates, so that instances and the CLI
 * wait for each other.
 */
const ADVISORY_LOCK = 72707369;

const LEDGER = `create table _prisma_migrations (
  id varchar(36) primary key not null,
  checksum varchar(64) not null,
  finished_at timestamptz,
  migration_name varchar(255) not null,
  logs text,
  rolled_back_at timestamptz,
  started_at timestamptz not null default now(),
  applied_steps_count integer not null default 0
)`;

const RECORD =
  'insert into _prisma_migrations (id, checksum, migration_name, applied_steps_count) values ($1, $2, $3, 1)';
const RECORD_FAILURE = `insert into _prisma_migrations (id, checksum, migration_name, logs, rolled_back_at)
  values ($1, $2, $3, $4, now())`;

/**
 * The migrations that have run. A migration of the gateway that fails is rolled back completely, so it does not count. Failures
 * that an earlier version recorded without `rolled_back_at` do not count either. A failure of Prisma's CLI counts, since the
 * CLI may have applied a part.
 */
const APPLIED = `select migration_name, checksum, finished_at is not null as is_finished from _prisma_migrations
  where rolled_back_at is null
    and (finished_at is not null or logs is null or logs like 'A migration failed to apply%')`;

/** Interval between attempts to take the lock, in milliseconds. */
const RETRY_MS = 200;
/** After this time, the operator is told what the start waits for, in milliseconds. */
const PATIENCE_MS = 2_000;

/** The sessions that hold the lock. PostgreSQL stores the two halves of the number as `classid` and `objid`. */
const HOLDERS = `select activity.pid, activity.application_name as name, activity.client_addr::text as address
  from pg_locks held join pg_stat_activity activity using (pid)
  where held.locktype = 'advisory' and held.granted and held.classid = 0 and held.objid = ${ADVISORY_LOCK} and held.objsubid = 1
    and held.database = (select oid from pg_database where datname = current_database())`;

/** What to do about an error, by its code. */
const REMEDIES: Readonly<Record<string, string>> = {
  '42501':
    'Grant the role of DATABASE_URL the missing privilege, or let an administrator run the statement (such as CREATE EXTENSION pg_trgm), and start again.',
  '42704': "If the message names gin_trgm_ops, add the schema of the extension pg_trgm to the role's search_path.",
  '58P01': 'Install the contributed modules of PostgreSQL (postgresql-contrib) on its server.',
  '55P03': 'Another transaction holds a lock. Start again.',
  '57014': 'The statement was cancelled. Start again.',
};

export interface MigrationOptions {
  /** Ends the wait for the lock, or ends the start before its next migration. */
  readonly signal?: AbortSignal;
  /** Tells the operator what the start waits for, as one line. */
  report?(line: string): void;
}

/**
 * Applies the pending migrations in order, like `prisma migrate deploy`. Records them in `_prisma_migrations`, so that Prisma's
 * CLI can apply later migrations. A failed migration is rolled back and recorded, and prevents this start. The next start runs
 * it again. The lock and the settings are scoped to a transaction, so a pooler may use a different connection for each
 * transaction. On a read-only database, `migrate` only checks that no migration is pending.
 *
 * Prisma's CLI is not used: it downloads an engine, is not in the image, and cannot migrate the embedded database.
 * @throws Error with a one-line message that names the migration.
 */
export async function migrate(
  connection: MigrationConnection,
  options: MigrationOptions = {},
  directory = MIGRATIONS_DIRECTORY,
): Promise<void> {
  const migrations = migrationsIn(directory);
  const [state] = await connection.rows(
    "select current_setting('transaction_read_only') = 'on' as read_only, to_regclass('_prisma_migrations') as ledger",
  );
  if (!state?.read_only) while (await applyNext(connection, migrations, options));
  else {
    const next = state.ledger === null ? migrations[0] : await pending(connection, migrations);
    if (next) throw new Error(`Migration ${next.name} cannot be applied: the database is read-only`);
  }
}

type Migration = ReturnType<typeof migrationsIn>[number];

function migrationsIn(directory: string) {
  return readdirSync(directory)
    .sort()
    .map((name) => ({ name, file: join(directory, name, 'migration.sql') }))
    .filter(({ file }) => existsSync(file))
    .map(({ name, file }) => {
      const sql = readFileSync(file, 'utf8');
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
    });
}

/** Applies the first pending migration. @returns false if no migration was pending. */
async function applyNext(
  connection: MigrationConnection,
  migrations: Migration[],
  options: MigrationOptions,
): Promise<boolean> {
  let next: Migration | undefined;
  try {
    await alone(connection, options, async () => {
      next = await pending(connection, migrations);
      if (next) await apply(connection, next, options);
    });
    return next !== undefined;
  } catch (error) {
    if (!next) throw error;
    const reason = reasonOf(error);
    const failed = [randomUUID(), next.checksum, next.name, reason];
    await alone(connection, options, () => connection.rows(RECORD_FAILURE, failed)).catch(() => undefined);
    const remedy = REMEDIES[(error as { code?: string }).code ?? ''];
    throw new Error(`Migration ${next.name} failed: ${reason}${remedy ? `. ${remedy}` : ''}`, { cause: error });
  }
}

/** Returns the first migration that is not applied. */
async function pending(connection: MigrationConnection, migrations: Migration[]): Promise<Migration | undefined> {
  const applied = await connection.rows(APPLIED);
  return migrations.find((migration) => !isApplied(migration, applied));
}

/**
 * Runs `work` in a transaction that holds the advisory lock. Creates the migrations table if needed. There is no time limit,
 * since a migration may take long, and other instances that start in the meantime wait for it. The instances do not wait inside
 * the database server, so that a killed start leaves no waiting statement there.
 */
async function alone<T>(
  connection: MigrationConnection,
  { signal, report }: MigrationOptions,
  work: () => Promise<T>,
): Promise<T> {
  const reportAt = performance.now() + PATIENCE_MS;
  let isReported = false;
  try {
    for (;;) {
      signal?.throwIfAborted();
      await connection.script(`${BEGIN}; ${withoutTimeLimits('transaction')}; set local timezone to 'UTC'`);
      const [lock] = await connection.rows('select pg_try_advisory_xact_lock($1) as is_taken', [ADVISORY_LOCK]);
      if (lock?.is_taken) break;
      if (!isReported && performance.now() > reportAt) {
        isReported = true;
        report?.(lineOf(await connection.rows(HOLDERS)));
      }
      await connection.script('rollback');
      await sleep(RETRY_MS, undefined, { signal });
    }
    // Even `if not exists` needs the privilege to create tables. A role that does not own the tables may lack this privilege.
    const [found] = await connection.rows("select to_regclass('_prisma_migrations') is not null as yes");
    if (!found?.yes) await connection.script(LEDGER);
    const result = await work();
    await connection.script('commit');
    return result;
  } catch (error) {
    // If the connection is lost, the server has rolled back already.
    await connection.script('rollback').catch(() => undefined);
    throw error;
  }
}

function lineOf([holder]: readonly Record<string, unknown>[]): string {
  const { pid, name, address } = holder ?? {};
  const from = address ? `, address ${address}` : '';
  const client = holder
    ? `PostgreSQL process ${pid} (application ${name || 'without a name'}${from})`
    : 'another client';
  return `waiting for the migration lock, held by ${client}. If this is not another gateway that is starting, end it with: select pg_terminate_backend(${pid ?? 'PID'})`;
}

/** @throws Error if the migration failed earlier, or if its file has changed since it was applied. */
function isApplied({ name, checksum }: Migration, applied: Record<string, unknown>[]): boolean {
  const entry = applied.find((row) => row.migration_name === name);
  if (!entry) return false;
  if (!entry.is_finished) {
    throw new Error(
      `Migration ${name} failed earlier. Repair the database, then mark it in _prisma_migrations as rolled back.`,
    );
  }
  if (entry.checksum !== checksum) throw new Error(`Migration ${name} was changed after it had been applied.`);
  return true;
}

/**
 * Applies a migration, and records it in the same transaction. So a migration that is interrupted, for example by a crash,
 * changes nothing.
 */
async function apply(
  connection: MigrationConnection,
  { name, sql, checksum }: Migration,
  { report }: MigrationOptions,
): Promise<void> {
  const id = randomUUID();
  const [session] = await connection.rows('select pg_backend_pid() as pid');
  await connection.rows(RECORD, [id, checksum, name]);
  const late = setTimeout(() => {
    report?.(
      `migration ${name} still runs. If it waits for a lock, "select pg_blocking_pids(${session?.pid})" names the processes that hold it.`,
    );
  }, PATIENCE_MS);
  try {
    await connection.script(sql);
  } finally {
    clearTimeout(late);
  }
  await connection.rows('update _prisma_migrations set finished_at = clock_timestamp() where id = $1', [id]);
}
