import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { createApp } from '../../src/app';
import { readConfig } from '../../src/config';
import type { Database } from '../../src/database/database';
import { startEngine } from '../../src/database/embedded/cluster';
import { openDatabase } from '../../src/database/open';
import { statement } from '../../src/database/statement';
import { TEST_DATABASE_URL } from '../helper/database';
import { copyData } from '../helper/prepared';

const DUMP = readFileSync(join(__dirname, 'version-before.sql'), 'utf8');
const ADMIN = 'ps_versionbefor_VersionBeforeVersionBeforeVersio';
const PRO = 'ps_dspjetwm3m1z_vjrH0q9f63q6QZ2MpP3OWVjPoJRFoSid';
const ENTERPRISE = 'ps_vuhdus54e1c6_bkPcYg0jUsJetNAXCSu2Rr0WIo0C8gmF';
const REVOKED = 'ps_5r2cplz473ac_nU9elzOCigfDCLvXkteNy8o4Sndgmbk5';

type Server = Awaited<ReturnType<typeof createApp>>['server'];

let directory: string;
let url: URL | undefined;
let database: Database;
let server: Server;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'petstore-before-'));
  if (TEST_DATABASE_URL) {
    url = new URL(TEST_DATABASE_URL);
    url.pathname = `/${process.env.TEST_DATABASE_PREFIX}${randomBytes(6).toString('hex')}`;
    await administer(`create database ${url.pathname.slice(1)}`);
    await query(url.href, DUMP);
  } else {
    copyData(directory);
    const engine = await startEngine({ dataDir: join(directory, 'postgres') });
    await engine.exec('drop schema public cascade; create schema public;');
    await engine.exec(DUMP);
    await engine.close();
  }
  await open();
});
afterAll(async () => {
  await close();
  if (url) await administer(`drop database ${url.pathname.slice(1)}`);
  rmSync(directory, { recursive: true });
});

/** Starts this version on the database of the one before. */
async function open(): Promise<void> {
  database = await openDatabase({ url: url?.href, directory });
  ({ server } = await createApp(readConfig({ LOG_LEVEL: 'silent', ADMIN_API_KEY: ADMIN }), database));
  await server.ready();
}

async function close(): Promise<void> {
  await server.close();
  await database.close();
}

async function query(at: string, sql: string): Promise<void> {
  const client = new Client({ connectionString: at });
  await client.connect();
  await client.query(sql).finally(() => client.end());
}
const administer = (sql: string) => query(String(TEST_DATABASE_URL), sql);

async function rest(
  method: 'GET' | 'POST' | 'PATCH',
  path: string,
  given: { key: string; once?: string; body?: object },
) {
  const { statusCode, headers, body } = await server.inject({
    method,
    url: path,
    headers: { 'x-api-key': given.key, ...(given.once && { 'idempotency-key': given.once }) },
    ...(given.body && { payload: given.body }),
  });
  return { status: statusCode, replayed: headers['idempotent-replayed'], body: JSON.parse(body) };
}

async function graphql(query: string, variables?: object, headers: Record<string, string> = {}) {
  const response = await server.inject({
    method: 'POST',
    url: '/graphql',
    headers: { 'x-api-key': ADMIN, ...headers },
    payload: { query, variables },
  });
  return { replayed: response.headers['idempotent-replayed'], ...response.json() };
}

test('every migration is applied, and none again by the next start', async () => {
  const applied = async () => {
    const rows = await database.query<{ name: string; at: Date }>(
      statement('select migration_name as name, finished_at as at from _prisma_migrations order by 1'),
      [],
    );
    return rows.map(({ name, at }) => `${name} ${at.toISOString()}`);
  };
  const first = await applied();
  expect(first.length).toBeGreaterThan(4);
  await close();
  await open();
  expect(await applied()).toEqual(first);
});

test('its pets, categories, orders and stock are served by both interfaces', async () => {
  const query = `{
    pets { nodes { id name status category { name description } inventory { quantity } } }
    orders { totalCount nodes { quantity shipDate complete pet { name } } }
    inventory(filter: { maxQuantity: 0 }) { nodes { petId } }
  }`;
  const dogs = { name: 'Dogs', description: 'Loyal' };
  const cats = { name: 'Cats', description: null };
  expect((await graphql(query)).data).toEqual({
    pets: {
      nodes: [
        { id: '1', name: 'Rex', status: 'available', category: dogs, inventory: { quantity: 3 } },
        { id: '2', name: 'Bella', status: 'pending', category: dogs, inventory: { quantity: 0 } },
        { id: '3', name: "Ümläut O'Hara 🐈", status: 'sold', category: cats, inventory: null },
        { id: '4', name: 'Tom', status: 'available', category: cats, inventory: null },
      ],
    },
    orders: {
      totalCount: 3,
      nodes: [
        { quantity: 2, shipDate: null, complete: false, pet: { name: 'Rex' } },
        { quantity: 1, shipDate: '2026-11-20T07:30:00.000Z', complete: true, pet: { name: "Ümläut O'Hara 🐈" } },
        { quantity: null, shipDate: null, complete: false, pet: null },
      ],
    },
    inventory: { nodes: [{ petId: '2' }] },
  });
  expect((await rest('GET', '/pets?categoryId=2&status=sold&sort=-name', { key: PRO })).body).toEqual([
    { id: 3, name: "Ümläut O'Hara 🐈", status: 'sold', categoryId: 2 },
  ]);
});

test('its keys work as they did, and what is new can be done with them', async () => {
  const viewer = (key: string) =>
    graphql('{ viewer { plan scopes apiKey { name perMinute } } }', {}, { 'x-api-key': key });
  expect((await viewer(PRO)).data.viewer).toEqual({
    plan: 'PRO',
    scopes: ['READ', 'WRITE'],
    apiKey: { name: 'Acme', perMinute: null },
  });
  expect((await viewer(ENTERPRISE)).data.viewer).toMatchObject({ plan: 'ENTERPRISE', apiKey: { perMinute: 500 } });
  expect((await viewer(REVOKED)).errors[0].extensions.code).toBe('UNAUTHENTICATED');
  const rotate = 'mutation { rotateApiKey(id: "vuhdus54e1c6", graceSeconds: 3600) { secret } }';
  const { secret } = (await graphql(rotate)).data.rotateApiKey;
  for (const key of [secret, ENTERPRISE]) expect((await viewer(key)).data.viewer.apiKey.name).toBe('Large');
});

describe('a request with an idempotency key that it had answered', () => {
  test('gets the same answer from REST, and changes nothing', async () => {
    const placed = await rest('POST', '/store/orders', {
      key: ADMIN,
      once: 'order-of-two-rex',
      body: { petId: 1, quantity: 2 },
    });
    expect(placed).toEqual({ status: 201, replayed: 'true', body: { id: 1, petId: 1, quantity: 2, complete: false } });
    const renamed = await rest('PATCH', '/pets/2', { key: ADMIN, once: 'rename-bello', body: { name: 'Bella' } });
    expect(renamed).toMatchObject({ status: 200, replayed: 'true', body: { id: 2, name: 'Bella' } });
    const refused = await rest('POST', '/store/orders', {
      key: PRO,
      once: 'too-many',
      body: { petId: 1, quantity: 100 },
    });
    expect(refused).toMatchObject({ status: 409, replayed: 'true', body: { code: 'INSUFFICIENT_STOCK' } });
  });

  test('gets the same answer from GraphQL', async () => {
    const create = 'mutation ($input: NewPet!) { createPet(input: $input) { id name category { name } } }';
    const input = { name: 'Tom', categoryId: '2' };
    const { data, replayed } = await graphql(create, { input }, { 'idempotency-key': 'create-tom' });
    expect([replayed, data]).toEqual(['true', { createPet: { id: '4', name: 'Tom', category: { name: 'Cats' } } }]);
  });

  test('is refused with another payload', async () => {
    const other = await rest('POST', '/store/orders', {
      key: ADMIN,
      once: 'order-of-two-rex',
      body: { petId: 1, quantity: 1 },
    });
    expect(other).toMatchObject({ status: 422, body: { code: 'IDEMPOTENCY_MISMATCH' } });
  });
});

test('new rows follow the old ones, and stock is what was left', async () => {
  const created = await rest('POST', '/pets', { key: ADMIN, body: { name: 'Luna', categoryId: 1 } });
  expect(created).toMatchObject({ status: 201, body: { id: 5 } });
  expect(await rest('POST', '/store/orders', { key: ADMIN, body: { petId: 1, quantity: 3 } })).toMatchObject({
    status: 201,
    body: { id: expect.any(Number) },
  });
  const cancel = 'mutation { cancelOrder(id: 1) { pet { inventory { quantity } } } }';
  expect((await graphql(cancel)).data.cancelOrder.pet.inventory.quantity).toBe(2);
});
