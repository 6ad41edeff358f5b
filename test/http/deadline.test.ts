import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from 'graphql-ws';
import { Client } from 'pg';
import { WebSocket } from 'ws';
import { statement } from '../../src/database/statement';
import { createDatabase, TEST_DATABASE_URL } from '../helper/database';
import { ADMIN_KEY, type Gateway, startGateway } from '../helper/gateway';
import { until } from '../helper/until';

// Only PostgreSQL lets the test hold a lock over a separate connection.
const onPostgres = TEST_DATABASE_URL ? describe : describe.skip;

const LIMIT_MS = 700;
const SLOW = 'The request took longer than the limit of 700 ms, and was cancelled.';
const ORDER = 'mutation { placeOrder(input: { petId: 1, quantity: 1 }) { id } }';

onPostgres('while another transaction locks the inventory', () => {
  let gateway: Gateway;
  /** The connection of the transaction that holds the lock. */
  let other: Client;
  /** Reads `pg_stat_activity`. `other` cannot read it, because this view does not change within a transaction. */
  let observer: Client;
  let url: string;
  beforeAll(async () => {
    const created = await createDatabase();
    gateway = await startGateway({ REQUEST_TIMEOUT_MS: String(LIMIT_MS) }, Date.now, created);
    url = await gateway.listen();
    [other, observer] = [new Client(created.url), new Client(created.url)];
    await Promise.all([other.connect(), observer.connect()]);
    for (const rows of [
      "categories (name) values ('Fish')",
      "pets (name, category_id) values ('Nemo', 1)",
      'inventory values (1, 10)',
    ])
      await gateway.database.serviceSession().query(statement(`insert into ${rows}`), []);
    await gateway.graphql(ORDER);
    await other.query('delete from orders; update inventory set quantity = 10');
  });
  afterAll(async () => {
    await Promise.all([other.end(), observer.end()]);
    await gateway.close();
  });
  beforeEach(() => other.query('begin; select from inventory for update'));
  afterEach(() => other.query('rollback'));

  const active = async () => {
    const { rows } = await observer.query(
      "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    );
    return rows.length;
  };
  const stock = async () => {
    await other.query('rollback');
    // If the order had not been cancelled, the gateway would place it during this time.
    await sleep(200);
    const { rows } = await other.query('select quantity, (select count(*)::int from orders) as orders from inventory');
    return rows[0];
  };

  test('an order that exceeds the deadline gets 503, is cancelled in the database, and is not placed later', async () => {
    const begun = performance.now();
    const { errors, data } = await gateway.graphql(ORDER);
    expect(performance.now() - begun).toBeLessThan(LIMIT_MS + 400);
    expect(errors).toMatchObject([{ message: SLOW, extensions: { code: 'SERVICE_UNAVAILABLE', status: 503 } }]);
    expect(errors[0]?.extensions).not.toHaveProperty('details');
    expect(data).toEqual({ placeOrder: null });
    await until(async () => (await active()) === 0);
    expect(await stock()).toEqual({ quantity: 10, orders: 0 });
  });

  test('a REST request that exceeds the deadline gets 503 with Retry-After, and changes nothing', async () => {
    const change = gateway.app.inject({ method: 'PUT', url: '/store/inventory/1', payload: { quantity: 3 } });
    const response = await change;
    expect([response.statusCode, response.json()]).toMatchObject([503, { code: 'SERVICE_UNAVAILABLE', message: SLOW }]);
    expect(response.headers['retry-after']).toBeDefined();
    expect(await stock()).toEqual({ quantity: 10, orders: 0 });
  });

  test('an operation over WebSocket ends with an error at the deadline, and changes nothing', async () => {
    const client = createClient({
      url: `${url.replace('http', 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      connectionParams: { apiKey: ADMIN_KEY },
      retryAttempts: 0,
    });
    const begun = performance.now();
    const { value: first } = await client.iterate({ query: ORDER }).next();
    expect(performance.now() - begun).toBeLessThan(LIMIT_MS + 500);
    expect(first).toMatchObject({ errors: [{ message: SLOW }] });
    await client.dispose();
    expect(await stock()).toEqual({ quantity: 10, orders: 0 });
  });

  test('the remaining fields of a mutation do not start after the deadline', async () => {
    const { errors } = await gateway.graphql(`mutation { a: placeOrder(input: { petId: 1, quantity: 1 }) { id }
      b: createCategory(input: { name: "Birds" }) { id } }`);
    expect(errors.map(({ message }) => message)).toContain(SLOW);
    const { rows } = await other.query("select from categories where name = 'Birds'");
    expect(rows).toHaveLength(0);
  });

  test('an operation whose client disconnects is cancelled', async () => {
    const leaving = new AbortController();
    const body = JSON.stringify({ query: ORDER });
    const headers = { 'content-type': 'application/json', 'x-api-key': ADMIN_KEY };
    const gone = fetch(`${url}/graphql`, { method: 'POST', headers, body, signal: leaving.signal }).catch(
      () => undefined,
    );
    await until(async () => (await active()) > 0);
    leaving.abort();
    await gone;
    const begun = performance.now();
    await until(async () => (await active()) === 0);
    expect(performance.now() - begun).toBeLessThan(LIMIT_MS / 2);
    expect(await stock()).toEqual({ quantity: 10, orders: 0 });
  });

  test('other callers are served while 20 operations of one caller wait for the lock', async () => {
    const [greedy, modest] = await Promise.all([gateway.createKey(), gateway.createKey()]);
    const orders = Array.from({ length: 20 }, () => gateway.graphql(ORDER, {}, greedy.headers));
    await until(async () => (await active()) >= 4);
    for (let i = 0; i < 10; i++) {
      const { errors } = await gateway.graphql(
        'mutation { createCategory(input: { name: "Cats" }) { id } }',
        {},
        modest.headers,
      );
      expect(errors).toEqual([]);
    }
    for (const { errors } of await Promise.all(orders)) expect(errors).toMatchObject([{ message: SLOW }]);
    expect(await stock()).toEqual({ quantity: 10, orders: 0 });
  });
});
