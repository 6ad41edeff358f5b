import { ensureAdminKey } from '../../src/access/first-admin-key';
import type { Database } from '../../src/database/database';
import { statement } from '../../src/database/statement';
import { createDatabase, TEST_DATABASE_URL } from './database';
import { ADMIN_KEY } from './gateway';

export const TEST_REDIS_URL = process.env.TEST_REDIS_URL;

/** Several processes need servers to share. */
export const onServers = TEST_DATABASE_URL && TEST_REDIS_URL ? describe : describe.skip;

/** What the processes of one installation share, and their environment. */
export interface Production {
  readonly environment: Record<string, string>;
  readonly drop: () => Promise<void>;
}

/** Creates a database on the servers, with an admin key whose quota is more than any test uses up. */
export async function createProduction(): Promise<Production> {
  const { database, url = '', drop } = await createDatabase();
  await makeAdminKey(database);
  return { environment: environmentOf(url, TEST_REDIS_URL), drop };
}

export async function makeAdminKey(database: Database): Promise<void> {
  await ensureAdminKey(database, ADMIN_KEY, Date.now());
  await database.query(statement('update api_keys set per_minute = 2147483647, per_day = 2147483647'), []);
}

export function environmentOf(databaseUrl: string, redisUrl = ''): Record<string, string> {
  return {
    PATH: process.env.PATH ?? '',
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl,
    ADMIN_API_KEY: ADMIN_KEY,
    LOG_LEVEL: 'silent',
    // Other load on the machine must not count as overload.
    MAX_EVENT_LOOP_LAG_MS: '60000',
  };
}
