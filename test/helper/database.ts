import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import type { Database } from '../../src/database/database';
import { EmbeddedDatabase } from '../../src/database/embedded';
import { openDatabase } from '../../src/database/open';
import { statement } from '../../src/database/statement';
import { startMigrated } from './template';

/** URL of a real PostgreSQL to run the suite on, for a role that may create databases. If unset: embedded. */
export const TEST_DATABASE_URL = process.env.TEST_DATABASE_URL;

/** Creates a migrated, empty database for a test file; `drop` removes it. */
export async function createDatabase(): Promise<{ database: Database; url?: string; drop(): Promise<void> }> {
  if (!TEST_DATABASE_URL) {
    const database = new EmbeddedDatabase(await startMigrated(), 'embedded, in memory');
    return { database, drop: () => database.close() };
  }
  const name = `petstore_test_${randomBytes(6).toString('hex')}`;
  await administer(`create database ${name}`);
  const url = new URL(TEST_DATABASE_URL);
  url.pathname = `/${name}`;
  const database = await openDatabase({ url: url.href, directory: '' });
  return {
    database,
    url: url.href,
    drop: async () => {
      await database.close();
      await administer(`drop database ${name} with (force)`);
    },
  };
}

/** Empties every table except `api_keys`, and restarts the ids. */
export async function emptyDatabase(database: Database): Promise<void> {
  await database.query(
    statement('truncate orders, inventory, pets, categories, idempotency_keys restart identity'),
    [],
  );
}

async function administer(sql: string): Promise<void> {
  const client = new Client({ connectionString: TEST_DATABASE_URL });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
