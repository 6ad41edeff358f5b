import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import type { Change } from '../../../src/database/changes';
import { openDatabase } from '../../../src/database/open';
import { fillShop } from '../../helper/database';
import { type Gateway, startGateway, type TestKey } from '../../helper/gateway';
import { CAN_START_POSTGRES, PostgresServer } from '../../helper/postgres-server';
import { until } from '../../helper/until';

const onOwnServer = CAN_START_POSTGRES ? describe : describe.skip;

const REQUEST_TIMEOUT_MS = 1500;
const POOL_SIZE = 6;
const ORDER = 'mutation { placeOrder(input: { petId: 1, quantity: 1 }) { id } }';
const CATEGORY = 'mutation { createCategory(input: { name: "Fish" }) { id } }';

onOwnServer('while a synchronous standby is gone', () => {
  let postgres: PostgresServer;
  let gateway: Gateway;
  let observer: Client;
  let reader: TestKey;
  beforeAll(async () => {
    postgres = await PostgresServer.start();
    const { url } = postgres;
    await until(async () => {
      observer = new Client(url).on('error', () => undefined);
      return observer.connect().then(
        () => true,
        () => false,
      );
    }, 20);
    const database = await openDatabase({
      url,
      directory: '',
      poolSize: POOL_SIZE,
      requestTimeoutMs: REQUEST_TIMEOUT_MS,
    });
    gateway = await startGateway({ REQUEST_TIMEOUT_MS: String(REQUEST_TIMEOUT_MS) }, Date.now, {
      database,
      drop: () => database.close(),
    });
    await fillShop(database);
    reader = await gateway.createKey();
    await waitForStandby("'gone'");
  });
  afterAll(async () => {
    await waitForStandby('default');
    await gateway.close();
    await observer.end();
    await postgres.remove();
  });

  async function waitForStandby(names: string): Promise<void> {
    await observer.query('set synchronous_commit to off');
    await observer.query(`alter system set synchronous_standby_names to ${names}`);
    await observer.query('select pg_reload_conf()');
    const name = names.replaceAll("'", '').replace('default', '');
    await until(
      async () => (await observer.query('show synchronous_standby_names')).rows[0].synchronous_standby_names === name,
    );
    // Every connection of the gateway's learns of it by a signal of its own.
    await sleep(500);
  }
  const connections = async () => {
    const { rows } = await observer.query("select from pg_stat_activity where application_name = 'petstore-gateway'");
    return rows.length;
  };

  test.each([
    ['a statement that commits by itself', ORDER],
    ['the commit of a transaction', CATEGORY],
  ])('the outcome of %s is said to be unknown', async (_what, mutation) => {
    const begun = performance.now();
    const { errors } = await gateway.graphql(mutation);
    expect(errors).toMatchObject([
      { extensions: { code: 'SERVICE_UNAVAILABLE', status: 503, details: [{ path: 'outcome' }] } },
    ]);
    expect(performance.now() - begun).toBeLessThan(REQUEST_TIMEOUT_MS + 1000);
  });

  test.each([
    ['a statement that commits by itself', ORDER, 'order'],
    [
      'the commit of a transaction',
      'mutation { setInventory(petId: 2, input: { quantity: 9 }) { quantity } }',
      'inventory',
    ],
  ])('what %s has changed nevertheless is announced', async (_what, mutation, topic) => {
    const changed: Change[] = [];
    gateway.database.listeners.add((change) => void changed.push(change));
    const { errors } = await gateway.graphql(mutation);
    expect(errors).toMatchObject([{ extensions: { details: [{ path: 'outcome' }] } }]);
    await until(async () => changed.some((change) => change.topic === topic));
  });

  test('connections stay within the pool, and others are answered', async () => {
    const { headers } = reader;
    let most = 0;
    for (let round = 0; round < 5; round++) {
      const writes = Array.from({ length: 10 }, () => gateway.graphql(round % 2 ? ORDER : CATEGORY));
      const { data } = await gateway.graphql('{ pet(id: 1) { name } }', {}, headers);
      expect(data).toEqual({ pet: { name: 'Rex' } });
      most = Math.max(most, await connections());
      await Promise.all(writes);
      most = Math.max(most, await connections());
    }
    expect(most).toBeLessThanOrEqual(POOL_SIZE + 1);
  });
});
