import { createApp } from '../../src/app';
import { readConfig } from '../../src/config';
import type { Database } from '../../src/database/database';
import { createDatabase } from '../helper/database';
import { ADMIN_KEY } from '../helper/gateway';

let database: Database;
let drop: () => Promise<void>;
beforeEach(async () => {
  ({ database, drop } = await createDatabase());
});
afterEach(() => drop());

test.each<[string, Record<string, string>, number]>([
  ['concurrent starts create one key', {}, 1],
  ['concurrent starts with the same ADMIN_API_KEY create one key', { ADMIN_API_KEY: ADMIN_KEY }, 0],
])('%s', async (_name, environment, shown) => {
  const config = readConfig({ LOG_LEVEL: 'silent', ...environment });
  const started = await Promise.all([1, 2, 3].map(() => createApp(config, database)));
  expect(started.filter(({ newAdminKey }) => newAdminKey)).toHaveLength(shown);
  expect(await database.prisma.apiKey.count()).toBe(1);
  await Promise.all(started.map(({ server }) => server.close()));
});
