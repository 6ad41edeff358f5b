import { ensureAdminKey } from '../../src/access/first-admin-key';
import { createApp } from '../../src/app/app';
import { readConfig } from '../../src/app/config';
import type { Database } from '../../src/database/database';
import { createDatabase } from '../helper/database';

let database: Database;
let drop: () => Promise<void>;
beforeAll(async () => {
  ({ database, drop } = await createDatabase());
});
beforeEach(() => database.prisma.apiKey.deleteMany());
afterAll(() => drop());

const GIVEN = 'ps_givenbyowner_GivenByOwnerGivenByOwnerGivenByO';

/** Starts the application; `viewer` returns whom a key belongs to. */
async function start(environment: Record<string, string> = {}) {
  const { server, firstAdminKey } = await createApp(readConfig({ LOG_LEVEL: 'silent', ...environment }), database);
  const newAdminKey = await firstAdminKey();
  const viewer = async (key: string) => {
    const response = await server.inject({
      method: 'POST',
      url: '/graphql',
      headers: { 'content-type': 'application/json', 'x-api-key': key },
      payload: { query: '{ viewer { plan scopes apiKey { name perMinute perDay } } }' },
    });
    return response.statusCode === 200 ? response.json().data.viewer : response.statusCode;
  };
  return { newAdminKey, viewer, stop: () => server.close() };
}

/** What each start does for its first admin key. */
function bootstrap(given?: string): Promise<string | undefined> {
  return ensureAdminKey(database, given, Date.now());
}

const ADMIN = {
  plan: 'ENTERPRISE',
  scopes: ['READ', 'WRITE', 'ADMIN'],
  apiKey: { name: 'first admin key', perMinute: 10_000, perDay: 1_000_000 },
};

test('the first start creates one admin key and shows it once', async () => {
  const first = await start();
  expect(first.newAdminKey).toMatch(/^ps_[0-9a-z]{12}_[0-9A-Za-z]{32}$/);
  expect(await first.viewer(String(first.newAdminKey))).toEqual(ADMIN);
  await first.stop();

  const second = await start();
  expect(second.newAdminKey).toBeUndefined();
  expect(await second.viewer(String(first.newAdminKey))).toEqual(ADMIN);
  await second.stop();
  expect(await database.prisma.apiKey.count()).toBe(1);
});

test('an application that never listens creates no admin key', async () => {
  const { server } = await createApp(readConfig({ LOG_LEVEL: 'silent' }), database);
  await server.close();
  expect(await database.prisma.apiKey.count()).toBe(0);
});

test('ADMIN_API_KEY becomes that key, and is not shown', async () => {
  for (let time = 0; time < 2; time++) {
    const { newAdminKey, viewer, stop } = await start({ ADMIN_API_KEY: GIVEN });
    expect([newAdminKey, await viewer(GIVEN)]).toEqual([undefined, ADMIN]);
    await stop();
  }
  expect(await database.prisma.apiKey.count()).toBe(1);
});

test('ADMIN_API_KEY is added to a database that has other keys, and stays revoked once revoked', async () => {
  const first = await bootstrap();
  const given = await start({ ADMIN_API_KEY: GIVEN });
  expect(await given.viewer(GIVEN)).toEqual(ADMIN);
  await given.stop();
  await database.prisma.apiKey.updateMany({ where: { id: 'givenbyowner' }, data: { revokedAt: new Date() } });
  const again = await start({ ADMIN_API_KEY: GIVEN });
  expect(await again.viewer(GIVEN)).toBe(401);
  expect(await again.viewer(String(first))).toEqual(ADMIN);
  await again.stop();
});

test('ADMIN_API_KEY with an existing id but another secret stops the start, and is not repeated', async () => {
  await bootstrap(GIVEN);
  const other = GIVEN.replace('Given', 'Other');
  const failure = start({ ADMIN_API_KEY: other });
  await expect(failure).rejects.toThrow('ADMIN_API_KEY has a different secret from the existing key givenbyowner.');
});

test('ADMIN_API_KEY may be the old secret of a rotated key until the grace ends', async () => {
  await bootstrap(GIVEN);
  const previousSecretUntil = new Date(Date.now() + 60_000);
  const { secretHash } = await database.prisma.apiKey.findFirstOrThrow();
  const rotated = { secretHash: new Uint8Array(32).fill(7), previousSecretHash: secretHash, previousSecretUntil };
  await database.prisma.apiKey.updateMany({ data: rotated });
  expect(await ensureAdminKey(database, GIVEN, previousSecretUntil.getTime() - 1)).toBeUndefined();
  const late = ensureAdminKey(database, GIVEN, previousSecretUntil.getTime());
  await expect(late).rejects.toThrow('ADMIN_API_KEY has a different secret from the existing key givenbyowner.');
});

// bootstrap.full.test.ts has the same for whole applications, and workers.full.test.ts for processes.
test.each<[string, string | undefined, number]>([
  ['concurrent starts create one key', undefined, 1],
  ['concurrent starts with the same ADMIN_API_KEY create one key', GIVEN, 0],
])('%s', async (_name, given, shown) => {
  const started = await Promise.all([bootstrap(given), bootstrap(given), bootstrap(given)]);
  expect(started.filter((newAdminKey) => newAdminKey)).toHaveLength(shown);
  expect(await database.prisma.apiKey.count()).toBe(1);
});
