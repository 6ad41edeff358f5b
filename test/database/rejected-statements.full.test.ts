import { openDatabase } from '../../src/database/open';
import { type Gateway, startGatewayOn } from '../helper/gateway';
import { CAN_START_POSTGRES, PostgresServer } from '../helper/postgres-server';
import { until } from '../helper/until';
import { ask } from '../http/client';

const onOwnServer = CAN_START_POSTGRES ? describe : describe.skip;

const READ = 'GET /pets';
const CREATE = 'mutation { createPet(input: { name: "Bello", categoryId: 1 }) { name } }';
const UPDATE = 'mutation { updatePet(id: 1, input: { status: sold }) { name } }';
const ORDER = 'mutation { placeOrder(input: { petId: 1, quantity: 1 }) { id } }';

const statusOf = async (gateway: Gateway, on: string) => {
  const { status, error } = await ask(gateway, on);
  return error?.status ?? status;
};
/** Why the gateway is not ready; `undefined` if it is. */
const fault = async (gateway: Gateway) => (await ask(gateway, 'GET /readyz')).error?.message;

async function fill(gateway: Gateway): Promise<void> {
  await gateway.data('mutation { createCategory(input: { name: "Dogs" }) { id } }');
  await gateway.data('mutation { createPet(input: { name: "Rex", categoryId: 1 }) { id } }');
}

onOwnServer('the role of DATABASE_URL', () => {
  let server: PostgresServer;
  const urlOf = (role: string, database: string) =>
    server.url.replace('postgres@', `${role}@`).replace(/\w+$/, database);
  beforeAll(async () => {
    server = await PostgresServer.start();
    await server.query('create role shop login');
  });
  afterAll(() => server.remove());

  const GRANT = /Grant the role of DATABASE_URL/;
  test.each<[lacks: string, sql: readonly string[], message: RegExp]>([
    ['CREATE on the schema', [], /: permission denied for schema public\. /],
    [
      'USAGE on the schema',
      ['revoke all on schema public from public'],
      /: no schema has been selected to create in\. /,
    ],
    [
      'CONNECT on the database',
      ['revoke connect on database empty from public'],
      /: permission denied for database "empty"\. /,
    ],
    [
      'the right to create the extension',
      ['grant create on schema public to shop'],
      /: Migration \S+ failed: permission denied to create extension "pg_trgm"\. /,
    ],
  ])('that lacks %s stops the start with one line, which names the remedy', async (_lacks, sql, message) => {
    await server.query('create database empty');
    const admin = await server.connect(urlOf('postgres', 'empty'));
    for (const statement of sql) await admin.query(statement);
    await admin.end();
    const opened = openDatabase({ url: urlOf('shop', 'empty'), directory: '' });
    await expect(opened).rejects.toThrow(message);
    await expect(opened).rejects.toThrow(GRANT);
    await expect(opened).rejects.not.toThrow('\n');
    await server.query('drop database empty with (force)');
  });

  describe('that owns no table, but has the documented rights,', () => {
    let gateway: Gateway;
    beforeAll(async () => {
      await (await openDatabase({ url: server.url, directory: '' })).close();
      await server.query('grant select, insert, update, delete on all tables in schema public to shop');
      await server.query('grant usage on all sequences in schema public to shop');
      gateway = await startGatewayOn(urlOf('shop', 'postgres'));
      await fill(gateway);
    });
    afterAll(() => gateway?.close());

    test('can start, read and write', async () => {
      for (const on of [READ, CREATE, UPDATE, ORDER]) expect([on, await statusOf(gateway, on)]).toEqual([on, 200]);
      expect(await fault(gateway)).toBeUndefined();
    });

    test.each<[right: string, fails: readonly string[], works: readonly string[]]>([
      ['select on pets', [READ, UPDATE], []],
      ['insert on pets', [CREATE], [READ, UPDATE, ORDER]],
      ['update on pets', [UPDATE], [READ]],
      ['insert on orders', [ORDER], [READ, CREATE, UPDATE]],
      ['insert on events', [CREATE, UPDATE, ORDER], [READ]],
      ['usage on sequence pets_id_seq', [CREATE], [READ, UPDATE, ORDER]],
      ['usage on schema public', [READ, CREATE, UPDATE, ORDER], []],
    ])('gets 503 while it lacks %s, is not ready, and works again after a grant', async (right, fails, works) => {
      const isSchema = right.endsWith('schema public');
      await server.query(`revoke ${right} from ${isSchema ? 'public' : 'shop'}`);
      try {
        for (const on of fails) expect([on, await statusOf(gateway, on)]).toEqual([on, 503]);
        for (const on of works) expect([on, await statusOf(gateway, on)]).toEqual([on, 200]);
        await until(async () => (await fault(gateway)) !== undefined);
        expect(await fault(gateway)).toMatch(/^Not ready: the database rejects statements \(SQLSTATE 42(501|P01)\)\.$/);
      } finally {
        await server.query(`grant ${right} to ${isSchema ? 'public' : 'shop'}`);
      }
      await until(async () => (await fault(gateway)) === undefined);
      for (const on of [READ, CREATE, UPDATE, ORDER]) expect([on, await statusOf(gateway, on)]).toEqual([on, 200]);
    });
  });
});

onOwnServer('when transaction ids are used up', () => {
  /** An id behind the limit of a new cluster, at which PostgreSQL assigns no more ids (PostgreSQL documentation, 25.1.5). */
  const USED_UP = 2_147_000_000;
  let server: PostgresServer;
  let gateway: Gateway | undefined;
  beforeAll(async () => {
    server = await PostgresServer.start({ max_prepared_transactions: '1', autovacuum_naptime: '1s' });
    const before = await startGatewayOn(server.url);
    await fill(before);
    await before.close();
    // Until this transaction ends, a vacuum cannot free transaction ids.
    await server.query("begin; create table held (); prepare transaction 'held'");
    await server.stop('SIGINT');
    await server.setNextTransactionId(USED_UP);
    await server.start();
  });
  afterAll(async () => {
    await gateway?.close();
    await server.remove();
  });

  test('a start serves reads, writes get 503, the gateway is not ready, and it recovers without a restart', async () => {
    const started = await startGatewayOn(server.url);
    gateway = started;
    expect(await statusOf(started, READ)).toBe(200);
    for (const on of [CREATE, UPDATE, ORDER]) expect([on, await statusOf(started, on)]).toEqual([on, 503]);
    await until(async () => (await fault(started)) !== undefined);
    expect(await fault(started)).toBe('Not ready: the database rejects statements (SQLSTATE 54000).');
    // Autovacuum now frees transaction ids.
    await server.query("rollback prepared 'held'");
    await until(async () => (await fault(started)) === undefined, 60);
    for (const on of [READ, CREATE, UPDATE, ORDER]) expect([on, await statusOf(started, on)]).toEqual([on, 200]);
  });
});
