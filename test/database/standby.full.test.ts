import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import type { Change } from '../../src/database/database';
import { openDatabase } from '../../src/database/open';
import { fillShop } from '../helper/database';
import { type Gateway, startGatewayOn } from '../helper/gateway';
import { CAN_START_POSTGRES, PostgresServer } from '../helper/postgres-server';
import { until } from '../helper/until';

/** Reads have this deadline too. On a busy machine, a read on a new connection may take over a second. */
const REQUEST_TIMEOUT_MS = 3000;
/** How often ten writes at once wait for the standby, each until the deadline. */
const ROUNDS = 3;
const POOL_SIZE = 6;
const ORDER = 'mutation { placeOrder(input: { petId: 1, quantity: 1 }) { id } }';
const CATEGORY = 'mutation { createCategory(input: { name: "Fish" }) { id } }';
const STOCK = 'mutation { setInventory(petId: 2, input: { quantity: 9 }) { quantity } }';
const IS_READ_ONLY = { details: [{ path: 'database', message: 'is read-only; reads still work' }] };

const onOwnServer = CAN_START_POSTGRES ? describe : describe.skip;

onOwnServer('with PostgreSQL', () => {
  let postgres: PostgresServer;
  let direct: Client;
  let gateway: Gateway;
  beforeAll(async () => {
    postgres = await PostgresServer.start();
    direct = await postgres.connect();
    gateway = await startGatewayOn(postgres.url, {
      DATABASE_POOL_SIZE: String(POOL_SIZE),
      REQUEST_TIMEOUT_MS: String(REQUEST_TIMEOUT_MS),
    });
    await fillShop(gateway.database);
    await direct.query('update inventory set quantity = 1000');
  });
  afterAll(async () => {
    await gateway?.close();
    await direct?.end();
    await postgres?.remove();
  });

  const readiness = async (of = gateway) => (await of.app.inject({ url: '/readyz' })).statusCode;
  const order = async () => (await gateway.graphql(ORDER)).errors;
  const rename = async () =>
    (await gateway.graphql('mutation { updatePet(id: 3, input: { name: "T" }) { id } }')).errors;

  describe('while the server is read-only', () => {
    const setReadOnly = async (value: 'on' | 'off') => {
      await direct.query(`alter system set default_transaction_read_only to ${value}`);
      await direct.query('select pg_reload_conf()');
      await until(async () => {
        const { rows } = await direct.query('show default_transaction_read_only');
        return rows[0].default_transaction_read_only === value;
      });
    };

    test('readiness fails within two seconds, and reads work; later, readiness and writes recover within two seconds', async () => {
      expect(await readiness()).toBe(200);
      await setReadOnly('on');
      await until(async () => (await readiness()) === 503, 2);
      const message = 'Not ready: the database is read-only; reads still work.';
      const get = (url: string) => gateway.app.inject({ url });
      expect((await get('/readyz')).json()).toMatchObject({ ...IS_READ_ONLY, message });
      for (const path of ['/livez', '/pets']) expect((await get(path)).statusCode).toBe(200);
      expect((await gateway.graphql('{ pet(id: 1) { name category { name } } }')).errors).toEqual([]);
      expect(await order()).toMatchObject([{ extensions: { code: 'SERVICE_UNAVAILABLE' } }]);
      await setReadOnly('off');
      await until(async () => (await readiness()) === 200, 2);
      expect(await order()).toEqual([]);
    });

    test('a connection is replaced after a write on it failed because the server is read-only', async () => {
      // Sessions that start with this setting keep it after the reset. So they stay read-only, as after a failover.
      await direct.query('alter database postgres set default_transaction_read_only to on');
      await direct.query('select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid()');
      await until(async () => (await readiness()) === 503, 2);
      for (const write of [order, rename])
        expect(await write()).toMatchObject([{ extensions: { code: 'SERVICE_UNAVAILABLE' } }]);
      await direct.query('alter database postgres reset default_transaction_read_only');
      await until(async () => (await readiness()) === 200, 2);
      for (const write of [order, rename]) expect(await write()).toEqual([]);
    });

    test('a gateway starts on a standby with all tables, serves reads, and is ready after the promotion', async () => {
      const standby = await PostgresServer.follow(postgres);
      const reader = await startGatewayOn(standby.url);
      expect((await reader.app.inject({ url: '/readyz' })).json()).toMatchObject(IS_READ_ONLY);
      expect(await reader.data('{ pet(id: 1) { name } }')).toEqual({ pet: { name: 'Rex' } });
      await standby.promote();
      await until(async () => (await readiness(reader)) === 200, 2);
      expect((await reader.graphql(ORDER)).errors).toEqual([]);
      await reader.close();
      await standby.remove();
    });

    test('with target_session_attrs=read-write, the start fails', async () => {
      await setReadOnly('on');
      const url = `${postgres.url}?target_session_attrs=read-write`;
      await expect(openDatabase({ url, directory: '' })).rejects.toThrow(
        /^PostgreSQL at \S+ \(DATABASE_URL\) cannot be opened: it is read-only$/,
      );
      await setReadOnly('off');
    });

    test('the start fails with a one-line error if tables are missing', async () => {
      await direct.query('create schema empty');
      const url = `${postgres.url}?options=-c%20search_path%3Dempty%20-c%20default_transaction_read_only%3Don`;
      await expect(openDatabase({ url, directory: '' })).rejects.toThrow(
        /^PostgreSQL at \S+ \(DATABASE_URL\) cannot be opened: Migration \S+ cannot be applied: the database is read-only$/,
      );
    });
  });

  describe('while the synchronous standby is unreachable', () => {
    const waitForStandby = async (names: string) => {
      await direct.query('set synchronous_commit to off');
      await direct.query(`alter system set synchronous_standby_names to '${names}'`);
      await direct.query('select pg_reload_conf()');
      await until(async () => {
        const { rows } = await direct.query('show synchronous_standby_names');
        return rows[0].synchronous_standby_names === names;
      });
      // PostgreSQL signals each session of the gateway to reload the setting, which takes a moment.
      await sleep(500);
    };
    beforeAll(() => waitForStandby('gone'));
    afterAll(() => waitForStandby(''));

    test.each([
      ['an autocommit statement', ORDER, 'order'],
      ['a transaction', STOCK, 'inventory'],
    ])('the outcome of %s is reported as unknown, and its changes are published', async (_what, mutation, topic) => {
      const changed: Change[] = [];
      gateway.database.listeners.add((change) => void changed.push(change));
      const begun = performance.now();
      expect((await gateway.graphql(mutation)).errors).toMatchObject([
        { extensions: { code: 'SERVICE_UNAVAILABLE', status: 503, details: [{ path: 'outcome' }] } },
      ]);
      expect(performance.now() - begun).toBeLessThan(REQUEST_TIMEOUT_MS + 1000);
      await until(() => changed.some((change) => change.topic === topic));
    });

    test('the gateway stays within its connection limit, and serves callers that do not wait for the standby', async () => {
      const sessions = `select from pg_stat_activity where application_name = 'petstore-gateway'`;
      const connections = async () => (await direct.query(sessions)).rows.length;
      let most = 0;
      for (let round = 0; round < ROUNDS; round++) {
        const writes = Array.from({ length: 10 }, () => gateway.graphql(round % 2 ? ORDER : CATEGORY));
        const anonymous = { 'x-api-key': undefined };
        const { data, errors } = await gateway.graphql('{ pet(id: 1) { name } }', {}, anonymous);
        expect({ data, errors }).toEqual({ data: { pet: { name: 'Rex' } }, errors: [] });
        most = Math.max(most, await connections());
        await Promise.all(writes);
        most = Math.max(most, await connections());
      }
      expect(most).toBeLessThanOrEqual(POOL_SIZE + 1);
    });
  });
});
