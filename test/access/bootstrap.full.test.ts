import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { createApp } from '../../src/app/app';
import { readConfig } from '../../src/app/config';
import type { Database } from '../../src/database/database';
import { createDatabase, TEST_DATABASE_URL } from '../helper/database';
import { ADMIN_KEY } from '../helper/gateway';
import { GatewayProcess } from '../helper/process';
import { TEST_REDIS_URL } from '../helper/production';

let database: Database;
let url: string | undefined;
let drop: () => Promise<void>;
beforeEach(async () => {
  ({ database, url, drop } = await createDatabase());
});
afterEach(() => drop());

test.each<[string, Record<string, string>, number]>([
  ['concurrent starts create one key', {}, 1],
  ['concurrent starts with the same ADMIN_API_KEY create one key', { ADMIN_API_KEY: ADMIN_KEY }, 0],
])('%s', async (_name, environment, shown) => {
  const config = readConfig({ LOG_LEVEL: 'silent', ...environment });
  const started = await Promise.all([1, 2, 3].map(() => createApp(config, database)));
  const keys = await Promise.all(started.map(({ firstAdminKey }) => firstAdminKey()));
  expect(keys.filter((key) => key)).toHaveLength(shown);
  expect(await database.prisma.apiKey.count()).toBe(1);
  await Promise.all(started.map(({ server }) => server.close()));
});

const onServer = TEST_DATABASE_URL ? test : test.skip;

// main.process.test.ts has the same for the embedded database.
onServer.each([1, 2])(
  'a start that cannot listen leaves the key to the first that serves: %i workers',
  async (workers) => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    const environment = {
      PATH: process.env.PATH ?? '',
      DATABASE_URL: String(url),
      REDIS_URL: TEST_REDIS_URL ?? '',
      LOG_LEVEL: 'silent',
      WEB_CONCURRENCY: String(workers),
    };
    const failed = await new GatewayProcess({ ...environment, PORT: String(port) }).ended;
    taken.close();
    expect(failed).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining(`port ${port} is taken`) });
    expect(await database.prisma.apiKey.count()).toBe(0);
    const next = await GatewayProcess.start(environment);
    expect(next.report['Admin key']).toMatch(/^ps_/);
    await next.stop();
    expect(await database.prisma.apiKey.count()).toBe(1);
  },
);
