import { Client } from 'pg';
import { createApp } from '../../src/app/app';
import { readConfig } from '../../src/app/config';
import type { Database } from '../../src/database/database';
import { openDatabase } from '../../src/database/open';
import { createDatabase, fillShop, TEST_DATABASE_URL } from '../helper/database';
import { ADMIN_KEY, Gateway, startGateway } from '../helper/gateway';
import { CAN_START_POSTGRES, PostgresServer } from '../helper/postgres-server';
import { until } from '../helper/until';

const IS_READ_ONLY = { details: [{ path: 'database', message: 'cannot be written to; reads go on' }] };

const onOwnServer = CAN_START_POSTGRES ? describe : describe.skip;

onOwnServer('while the server takes no writes', () => {
  let postgres: PostgresServer;
  let gateway: Gateway;
  let direct: Client;
  beforeAll(async () => {
    postgres = await PostgresServer.start();
    await until(async () => {
      direct = new Client(postgres.url).on('error', () => undefined);
      return direct.connect().then(
        () => true,
        () => false,
      );
    }, 20);
    const database = await openDatabase({ url: postgres.url, directory: '' });
    gateway = await startGateway({}, Date.now, { database, drop: () => database.close() });
    await fillShop(database);
  });
  afterAll(async () => {
    await gateway?.close();
    await direct?.end();
    await postgres?.remove();
  });

  const setReadOnly = async (value: 'on' | 'off') => {
    await direct.query(`alter system set default_transaction_read_only to ${value}`);
    await direct.query('select pg_reload_conf()');
  };
  const get = (url: string) => gateway.app.inject({ url });
  const order = () => gateway.app.inject({ method: 'POST', url: '/store/orders', payload: { quantity: 1 } });

  test('readiness fails within two seconds and says why, reads go on, and both are right again within two seconds', async () => {
    expect((await get('/readyz')).statusCode).toBe(200);
    await setReadOnly('on');
    await until(async () => (await get('/readyz')).statusCode === 503, 2);
    expect((await get('/readyz')).json()).toMatchObject({
      ...IS_READ_ONLY,
      message: 'Not ready: the database cannot be written to; reads go on.',
    });
    expect((await get('/livez')).statusCode).toBe(200);
    expect((await get('/pets')).statusCode).toBe(200);
    expect((await gateway.graphql('{ pet(id: 1) { name category { name } } }')).errors).toEqual([]);
    expect((await order()).statusCode).toBe(503);
    await setReadOnly('off');
    await until(async () => (await get('/readyz')).statusCode === 200, 2);
    expect((await order()).statusCode).toBe(201);
  });

  test('a connection on which a write fails because the server is read-only is replaced', async () => {
    // Sessions keep the value with which they began, as connections keep leading to the server that was the primary.
    await direct.query('alter database postgres set default_transaction_read_only to on');
    await direct.query('select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid()');
    const rename = () => gateway.graphql('mutation { updateCategory(id: 1, input: { name: "Hounds" }) { id } }');
    await until(async () => (await get('/readyz')).statusCode === 503, 2);
    expect((await order()).statusCode).toBe(503);
    expect((await rename()).errors[0]?.extensions).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    await direct.query('alter database postgres reset default_transaction_read_only');
    await until(async () => (await get('/readyz')).statusCode === 200, 2);
    expect((await order()).statusCode).toBe(201);
    expect((await rename()).errors).toEqual([]);
  });

  test('a standby that has all tables is started on: it reads, and becomes ready when it is promoted', async () => {
    const standby = await PostgresServer.follow(postgres);
    let reader: Gateway | undefined;
    await until(async () => {
      const database = await openDatabase({ url: standby.url, directory: '' }).catch(() => undefined);
      reader = database && (await startOn(database));
      return reader !== undefined;
    }, 20);
    const ready = async () => reader?.app.inject({ url: '/readyz' });
    expect((await ready())?.json()).toMatchObject(IS_READ_ONLY);
    expect(await reader?.data('{ pet(id: 1) { name } }')).toEqual({ pet: { name: 'Rex' } });
    await standby.promote();
    await until(async () => (await ready())?.statusCode === 200, 2);
    expect(await reader?.data('mutation { placeOrder(input: {}) { quantity } }')).toEqual({
      placeOrder: { quantity: null },
    });
    await reader?.close();
    await standby.remove();
  });

  test('with target_session_attrs=read-write it is not connected to at all', async () => {
    await setReadOnly('on');
    const url = `${postgres.url}?target_session_attrs=read-write`;
    await until(async () => (await direct.query('show transaction_read_only')).rows[0].transaction_read_only === 'on');
    await expect(openDatabase({ url, directory: '' })).rejects.toThrow(
      /^PostgreSQL at \S+ cannot be opened: it is read-only$/,
    );
    await setReadOnly('off');
  });

  async function startOn(database: Database): Promise<Gateway> {
    const { server } = await createApp(readConfig({ LOG_LEVEL: 'silent', ADMIN_API_KEY: ADMIN_KEY }), database);
    return new Gateway(server, database, () => database.close());
  }
});

const onPostgres = TEST_DATABASE_URL ? test : test.skip;

onPostgres('a read-only database that lacks tables stops startup with one line', async () => {
  const { url = '', drop } = await createDatabase();
  const direct = new Client(url);
  await direct.connect();
  await direct.query('create schema empty');
  const readOnly = `${url}?options=-c%20search_path%3Dempty%20-c%20default_transaction_read_only%3Don`;
  await expect(openDatabase({ url: readOnly, directory: '' })).rejects.toThrow(
    /^PostgreSQL at \S+ cannot be opened: Migration \S+ cannot be applied: the database is read-only$/,
  );
  await direct.query('drop schema empty');
  await direct.end();
  await drop();
});
