import type { Client } from 'pg';
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
      'the privilege to create the extension',
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

  describe('with a new database', () => {
    let admin: Client;
    beforeEach(async () => {
      await server.query('create database empty');
      admin = await server.connect(urlOf('postgres', 'empty'));
      await admin.query('grant create on schema public to shop');
    });
    afterEach(async () => {
      await admin.end();
      await server.query('drop database empty with (force)');
    });

    const open = () => openDatabase({ url: urlOf('shop', 'empty'), directory: '' });
    async function expectServed(): Promise<void> {
      const gateway = await startGatewayOn(urlOf('shop', 'empty'));
      for (const on of [READ, '{ pets(filter: { name: "rex" }) { totalCount } }'])
        expect([on, await statusOf(gateway, on)]).toEqual([on, 200]);
      await gateway.close();
    }

    test('is served after an administrator has created the extension', async () => {
      await expect(open()).rejects.toThrow(
        / permission denied to create extension "pg_trgm"\. .*CREATE EXTENSION pg_trgm/,
      );
      await admin.query('create extension pg_trgm');
      await expectServed();
    });

    test('is served after the schema of the extension was added to search_path, which the line of the start names', async () => {
      await admin.query('create schema extensions; create extension pg_trgm schema extensions');
      await admin.query('grant usage on schema extensions to shop');
      await expect(open()).rejects.toThrow(
        /: Migration \S+ failed: operator class "\S*gin_trgm_ops" does not exist .*add the schema of the extension pg_trgm to the role's search_path\.$/,
      );
      await admin.query('alter role shop in database empty set search_path to public, extensions');
      await expectServed();
    });

    test('is served after a start whose migration an administrator has cancelled', async () => {
      await admin.query('create extension pg_trgm');
      // A table of the same name, which is not committed, makes the migration wait.
      await admin.query('begin; create table categories ()');
      const opening = open();
      const failure = expect(opening).rejects.toThrow(
        /: Migration \S+ failed: canceling statement due to user request\. The statement was cancelled\. Start again\.$/,
      );
      const cancel = () =>
        server.query(
          "select pg_cancel_backend(pid) as yes from pg_stat_activity where datname = 'empty' and wait_event_type = 'Lock'",
        );
      await until(async () => (await cancel()).length > 0);
      await failure;
      await admin.query('rollback');
      await expectServed();
    });
  });

  describe('that owns no table, but has the documented privileges,', () => {
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

    test.each<[privilege: string, fails: readonly string[], works: readonly string[]]>([
      ['select on pets', [READ, UPDATE], []],
      ['insert on pets', [CREATE], [READ, UPDATE, ORDER]],
      ['update on pets', [UPDATE], [READ]],
      ['insert on orders', [ORDER], [READ, CREATE, UPDATE]],
      ['insert on events', [CREATE, UPDATE, ORDER], [READ]],
      ['usage on sequence pets_id_seq', [CREATE], [READ, UPDATE, ORDER]],
      ['usage on schema public', [READ, CREATE, UPDATE, ORDER], []],
    ])('gets 503 while it lacks %s, is not ready, and works again after a grant', async (privilege, fails, works) => {
      const isSchema = privilege.endsWith('schema public');
      await server.query(`revoke ${privilege} from ${isSchema ? 'public' : 'shop'}`);
      try {
        for (const on of fails) expect([on, await statusOf(gateway, on)]).toEqual([on, 503]);
        for (const on of works) expect([on, await statusOf(gateway, on)]).toEqual([on, 200]);
        await until(async () => (await fault(gateway)) !== undefined);
        expect(await fault(gateway)).toMatch(/^Not ready: the database rejects statements \(SQLSTATE 42(501|P01)\)\.$/);
      } finally {
        await server.query(`grant ${privilege} to ${isSchema ? 'public' : 'shop'}`);
      }
      await until(async () => (await fault(gateway)) === undefined);
      for (const on of [READ, CREATE, UPDATE, ORDER]) expect([on, await statusOf(gateway, on)]).toEqual([on, 200]);
    });

    test('may have its privileges column by column, and is not ready while it lacks one of them', async () => {
      const columns = ['name', 'id, status, category_id, created_at, updated_at'];
      await server.query('revoke select, insert, update on pets from shop');
      for (const each of columns)
        await server.query(`grant select (${each}), insert (${each}), update (${each}) on pets to shop`);
      try {
        await until(async () => (await fault(gateway)) === undefined);
        for (const on of [READ, CREATE, UPDATE, ORDER]) expect([on, await statusOf(gateway, on)]).toEqual([on, 200]);
        for (const [privilege, fails] of [
          ['select', READ],
          ['insert', CREATE],
          ['update', 'mutation { updatePet(id: 1, input: { name: "Max" }) { name } }'],
        ] as const) {
          await server.query(`revoke ${privilege} (name) on pets from shop`);
          expect([privilege, await statusOf(gateway, fails)]).toEqual([privilege, 503]);
          await until(async () => (await fault(gateway)) !== undefined);
          expect(await fault(gateway)).toBe('Not ready: the database rejects statements (SQLSTATE 42501).');
          await server.query(`grant ${privilege} (name) on pets to shop`);
          await until(async () => (await fault(gateway)) === undefined);
        }
      } finally {
        await server.query('grant select, insert, update on pets to shop');
      }
    });
  });
});

onOwnServer('when transaction ids are used up', () => {
  /** An id behind the limit of a new cluster, at which PostgreSQL assigns no more ids (PostgreSQL documentation, 25.1.5). */
  const USED_UP = 2_147_000_000;
  let server: PostgresServer;
  let gateway: Gateway | undefined;
  beforeAll(async () => {
    server = await PostgresServer.start({ wal_level: 'logical', autovacuum_naptime: '1s' });
    const before = await startGatewayOn(server.url);
    await fill(before);
    await before.close();
    // Until this slot is dropped, a vacuum cannot free transaction ids. A prepared transaction would have the same effect, but
    // PostgreSQL would then write 8 GB at the next start: the parents of two billion transactions.
    await server.query("select pg_create_logical_replication_slot('held', 'pgoutput')");
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
    await server.query("select pg_drop_replication_slot('held')");
    await until(async () => (await fault(started)) === undefined, 60);
    for (const on of [READ, CREATE, UPDATE, ORDER]) expect([on, await statusOf(started, on)]).toEqual([on, 200]);
  });
});
