import { createHash, randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { reasonOf } from './failures';

/** What the runner needs of a driver: scripts of many statements, and queries on the same connection. */
export interface MigrationConnection {
  script(sql: string): Promise<void>;
  rows(sql: string, values?: unknown[]): Promise<Record<string, unknown>[]>;
}

/** The directory of migrations in the project and in its build: two floors below the top, both of them. */
export const MIGRATIONS_DIRECTORY = join(__dirname, '..', '..', 'prisma', 'migrations');

/** Prisma's own advisory lock: instances that start together, and Prisma's CLI, wait for each other. */
const ADVISORY_LOCK = 72707369;

const LEDGER = `create table if not exists _prisma_migrations (
  id varchar(36) primary key not null,
  checksum varchar(64) not null,
  finished_at timestamptz,
  migration_name varchar(255) not null,
  logs text,
  rolled_back_at timestamptz,
  started_at timestamptz not null default now(),
  applied_steps_count integer not null default 0
)`;

/**
 * Applies the migrations that the database lacks, in order, as `prisma migrate deploy` does, with Prisma's own ledger:
 * Prisma's CLI can go on where this left off. A migration that fails is recorded and stops this and every later start.
 * @throws Error in one line that names the migration.
 */
export async function migrate(
  connection: MigrationConnection,
  directory = MIGRATIONS_DIRECTORY,
): Promise<void> {
  await connection.rows('select pg_advisory_lock($1)', [ADVISORY_LOCK]);
  try {
    await connection.script(LEDGER);
    const applied = await connection.rows(
      'select migration_name, checksum, finished_at from _prisma_migrations where rolled_back_at is null',
    );
    for (const migration of migrationsIn(directory)) {
      const entry = applied.find((row) => row.migration_name === migration.name);
      if (!entry) await apply(connection, migration);
      else if (!entry.finished_at) {
        throw new Error(
          `Migration ${migration.name} failed earlier. Repair the database, then mark it in _prisma_migrations as rolled back.`,
        );
      } else if (entry.checksum !== migration.checksum) {
        throw new Error(`Migration ${migration.name} was changed after it had been applied.`);
      }
    }
  } finally {
    await connection.rows('select pg_advisory_unlock($1)', [ADVISORY_LOCK]);
  }
}

interface Migration {
  name: string;
  sql: string;
  checksum: string;
}

function migrationsIn(directory: string): Migration[] {
  return readdirSync(directory)
    .sort()
    .map((name) => ({ name, file: join(directory, name, 'migration.sql') }))
    .filter(({ file }) => existsSync(file))
    .map(({ name, file }) => {
      const sql = readFileSync(file, 'utf8');
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
    });
}

/** In one transaction with its entry: of a migration that is cut short, by a crash say, nothing is left. */
async function apply(connection: MigrationConnection, { name, sql, checksum }: Migration): Promise<void> {
  const entry = [randomUUID(), checksum, name];
  await connection.script('begin');
  try {
    await connection.rows(
      'insert into _prisma_migrations (id, checksum, migration_name, applied_steps_count) values ($1, $2, $3, 1)',
      entry,
    );
    await connection.script(sql);
    await connection.rows('update _prisma_migrations set finished_at = clock_timestamp() where id = $1', [
      entry[0],
    ]);
    await connection.script('commit');
  } catch (error) {
    await connection.script('rollback');
    const reason = reasonOf(error);
    await connection.rows(
      'insert into _prisma_migrations (id, checksum, migration_name, logs) values ($1, $2, $3, $4)',
      [...entry, reason],
    );
    throw new Error(`Migration ${name} failed: ${reason}`, { cause: error });
  }
}
