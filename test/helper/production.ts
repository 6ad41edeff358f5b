import { createDatabase, TEST_DATABASE_URL } from './database';
import { ADMIN_KEY, makeAdminKey } from './gateway';

export { TEST_DATABASE_URL };
export const TEST_REDIS_URL = process.env.TEST_REDIS_URL;

/**
 * `describe` for tests in which gateway processes share PostgreSQL and Redis. The tests are skipped if one of these servers is
 * not configured.
 */
export const onServers = TEST_DATABASE_URL && TEST_REDIS_URL ? describe : describe.skip;

/** The environment that all processes of an installation share. */
export interface Production {
  readonly environment: Record<string, string>;
  readonly drop: () => Promise<void>;
}

/** Creates a database on the server, with an admin key whose quota no test uses up. */
export async function createProduction(): Promise<Production> {
  const { database, url = '', drop } = await createDatabase();
  await makeAdminKey(database);
  return { environment: environmentOf(url, TEST_REDIS_URL), drop };
}

export function environmentOf(databaseUrl: string, redisUrl = ''): Record<string, string> {
  return {
    PATH: process.env.PATH ?? '',
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl,
    ADMIN_API_KEY: ADMIN_KEY,
    LOG_LEVEL: 'silent',
  };
}
