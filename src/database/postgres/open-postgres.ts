import type { Client } from 'pg';
import { reasonOf } from '../failures';
import { GatewayDatabase } from '../gateway-database';
import { type MigrationOptions, migrate, migrationsOn } from '../migrations';
import type { PoolBounds } from './bounded-pool';
import { Cancellations } from './cancellations';
import { PostgresEngine } from './postgres-engine';
import { PostgresServer } from './postgres-server';

const CONNECT_SHARE = 0.5;
const MAX_CONNECT_MS = 5_000;

/**
 * Connects to a PostgreSQL server, and applies pending migrations. Prisma's models and the gateway's own statements share
 * one connection pool.
 * @throws Error with a one-line message that names the server, without the password in `url`.
 */
export async function openPostgres(
  url: string,
  bounds: Omit<PoolBounds, 'connectMs'>,
  options: MigrationOptions = {},
): Promise<GatewayDatabase> {
  const { requestTimeoutMs } = bounds;
  const server = new PostgresServer(url);
  const description = `PostgreSQL at ${server.place}`;
  const connectMs = Math.min(MAX_CONNECT_MS, Math.ceil(requestTimeoutMs * CONNECT_SHARE));
  try {
    await migrateAt(server, options);
    const engine = new PostgresEngine(server, { ...bounds, connectMs });
    return new GatewayDatabase(engine, description, bounds);
  } catch (error) {
    throw new Error(`${description} (DATABASE_URL) cannot be opened: ${explain(error)}`, { cause: error });
  }
}

/** Runs the migrations on a separate connection, outside the pool. */
async function migrateAt(server: PostgresServer, options: MigrationOptions): Promise<void> {
  const client = await server.connect(MAX_CONNECT_MS);
  const cancellations = new Cancellations(() => server.configNow());
  const interrupt = () => cancellations.cancel(client, () => true);
  options.signal?.addEventListener('abort', interrupt);
  try {
    await checkEncoding(client, options);
    await migrate(migrationsOn(client), options);
  } finally {
    options.signal?.removeEventListener('abort', interrupt);
    await client.end();
  }
}

/** @throws Error if the database cannot store every text. */
async function checkEncoding(client: Client, { report }: MigrationOptions): Promise<void> {
  const encoding = await answerTo(client, "current_setting('server_encoding')");
  if (encoding !== 'UTF8')
    throw new Error(
      `its encoding is ${encoding}, which cannot store every text. Set DATABASE_URL to a database made with: create database petstore encoding 'UTF8' template template0`,
    );
  if (!(await answerTo(client, "'Ä' ilike 'ä'")))
    report?.(
      "searches by name ignore the case of ASCII letters only, since the LC_CTYPE of the database in DATABASE_URL is C. A database made with lc_ctype 'C.UTF-8' ignores the case of all letters.",
    );
}

async function answerTo(client: Client, sql: string): Promise<unknown> {
  const { rows } = await client.query<{ value: unknown }>(`select ${sql} as value`);
  return rows[0]?.value;
}

/** What to do about a server that rejects a connection, by the SQLSTATE. */
const REMEDIES: Readonly<Record<string, string>> = {
  '28P01': 'Correct the password in DATABASE_URL, or PGPASSWORD.',
  '28000': 'Correct the user in DATABASE_URL, or pg_hba.conf of the server.',
  '3D000': 'Create the database, or correct its name in DATABASE_URL.',
  '42501': 'Grant the role of DATABASE_URL this privilege, or let DATABASE_URL name the owner of the database.',
  '3F000': 'Grant the role of DATABASE_URL the privileges USAGE and CREATE on a schema of its search_path.',
  '54000': 'Its transaction ids are used up: run VACUUM in all databases of the server.',
  '53300': 'Raise max_connections of the server or the limit of the role, or lower DATABASE_POOL_SIZE.',
};

/** Why a server was not opened, and what to do about it. */
function explain(error: unknown): string {
  const reason = reasonOf(error);
  // The message of node-postgres about a missing password is about JavaScript.
  if (/password must be a (?:non-empty )?string/.test(reason))
    return 'it asks for a password. Add it to DATABASE_URL (postgresql://user:password@…), or set PGPASSWORD.';
  const remedy = REMEDIES[(error as { code?: string }).code ?? ''];
  return remedy ? `${reason}. ${remedy}` : reason;
}
