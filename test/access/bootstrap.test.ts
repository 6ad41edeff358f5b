import { ensureAdminKey } from '../../src/access/api-key-service';
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
const ANOTHER_SECRET = 'ADMIN_API_KEY has a different secret from the existing key givenbyowner.';

/**
 * Starts the application.
 * @returns the generated key, whether this start created the first key, and the `viewer` or the HTTP error status that each
 *   key gets.
 */
async function start(given: string | undefined, ...keys: string[]) {
  const environment = { LOG_LEVEL: 'silent', ...(given && { ADMIN_API_KEY: given }) };
  const { server, firstAdminKey } = await createApp(readConfig(environment), database);
  const first = await firstAdminKey();
  const shown = first?.generated;
  const viewers: unknown[] = [];
  for (const key of [...keys, ...(shown ? [shown] : [])]) {
    const response = await server.inject({
      method: 'POST',
      url: '/graphql',
      headers: { 'content-type': 'application/json', 'x-api-key': key },
      payload: { query: '{ viewer { plan scopes apiKey { name perMinute perDay } } }' },
    });
    viewers.push(response.statusCode === 200 ? response.json().data.viewer : response.statusCode);
  }
  await server.close();
  return { isFirst: first !== undefined, shown, viewers };
}

/** Ensures that an admin key exists, as each start of the application does. @returns the key if it is the first. */
const bootstrap = (given?: string) => ensureAdminKey(database, given, Date.now());

const ADMIN = {
  plan: 'ENTERPRISE',
  scopes: ['READ', 'ORDER', 'WRITE', 'ADMIN'],
  apiKey: { name: 'first admin key', perMinute: 10_000, perDay: 1_000_000 },
};

test('the first start creates one admin key and shows it once', async () => {
  const { isFirst, shown = '', viewers } = await start(undefined);
  expect(isFirst).toBe(true);
  expect(shown).toMatch(/^ps_[0-9a-z]{12}_[0-9A-Za-z]{32}$/);
  expect(viewers).toEqual([ADMIN]);
  expect(await start(undefined, shown)).toEqual({ isFirst: false, shown: undefined, viewers: [ADMIN] });
  expect(await database.prisma.apiKey.count()).toBe(1);
});

test('an application that never listens creates no admin key', async () => {
  const { server } = await createApp(readConfig({ LOG_LEVEL: 'silent' }), database);
  await server.close();
  expect(await database.prisma.apiKey.count()).toBe(0);
});

test('the key in ADMIN_API_KEY is created even if other keys exist; it is not printed, and not restored after a revocation', async () => {
  const first = String(await bootstrap());
  for (let time = 0; time < 2; time++)
    expect(await start(GIVEN, GIVEN)).toEqual({ isFirst: false, shown: undefined, viewers: [ADMIN] });
  expect(await database.prisma.apiKey.count()).toBe(2);
  await database.prisma.apiKey.updateMany({ where: { id: 'givenbyowner' }, data: { revokedAt: new Date() } });
  expect((await start(GIVEN, GIVEN, first)).viewers).toEqual([401, ADMIN]);
});

test('a first start with ADMIN_API_KEY is a first start that shows no key', async () => {
  expect(await start(GIVEN, GIVEN)).toEqual({ isFirst: true, shown: undefined, viewers: [ADMIN] });
  expect(await start(GIVEN, GIVEN)).toMatchObject({ isFirst: false, shown: undefined });
});

test('the start fails if ADMIN_API_KEY has an existing id but a different secret; the error does not contain the key', async () => {
  await bootstrap(GIVEN);
  await expect(start(GIVEN.replace('Given', 'Other'))).rejects.toThrow(new Error(ANOTHER_SECRET));
});

test('ADMIN_API_KEY may contain the old secret of a rotated key until the grace period ends', async () => {
  await bootstrap(GIVEN);
  const previousSecretUntil = new Date(Date.now() + 60_000);
  const { secretHash } = await database.prisma.apiKey.findFirstOrThrow();
  const rotated = { secretHash: new Uint8Array(32).fill(7), previousSecretHash: secretHash, previousSecretUntil };
  await database.prisma.apiKey.updateMany({ data: rotated });
  const end = previousSecretUntil.getTime();
  expect(await ensureAdminKey(database, GIVEN, end - 1)).toBeUndefined();
  await expect(ensureAdminKey(database, GIVEN, end)).rejects.toThrow(ANOTHER_SECRET);
});

// bootstrap.full.test.ts and workers.full.test.ts test starts with several processes.
test.each<[string, string | undefined]>([
  ['without ADMIN_API_KEY', undefined],
  ['with the same ADMIN_API_KEY', GIVEN],
])('concurrent starts %s create one key, and one of them is the first', async (_name, given) => {
  const keys = await Promise.all([1, 2, 3].map(() => bootstrap(given)));
  expect(keys.filter((key) => key)).toHaveLength(1);
  expect(await database.prisma.apiKey.count()).toBe(1);
});
