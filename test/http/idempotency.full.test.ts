import { rmSync } from 'node:fs';
import { Client } from 'pg';
import { createDatabase, TEST_DATABASE_URL } from '../helper/database';
import { ADMIN_KEY } from '../helper/gateway';
import { makeDirectory } from '../helper/installation';
import { copyData } from '../helper/prepared';
import { GatewayProcess } from '../helper/process';
import { until } from '../helper/until';

const onPostgres = TEST_DATABASE_URL ? describe : describe.skip;
const HEADERS = { 'content-type': 'application/json', 'x-api-key': ADMIN_KEY };

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly replayed: boolean;
}

async function send(gateway: GatewayProcess, on: string, body: object, key?: string): Promise<Answer> {
  const [method = '', path] = on.split(' ');
  const response = await fetch(gateway.url + path, {
    method,
    headers: { ...HEADERS, ...(key !== undefined && { 'idempotency-key': key }) },
    body: JSON.stringify(body),
  });
  return {
    status: response.status,
    text: await response.text(),
    replayed: response.headers.get('idempotent-replayed') === 'true',
  };
}

/** Sends a request. Retries while the first request with the key is running, as a client would. */
async function insist(gateway: GatewayProcess, on: string, body: object, key: string): Promise<Answer> {
  for (;;) {
    const answer = await send(gateway, on, body, key);
    if (answer.status !== 409) return answer;
    expect(answer.text).toContain('IDEMPOTENCY_IN_PROGRESS');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function fillShop(gateway: GatewayProcess): Promise<void> {
  await send(gateway, 'POST /categories', { name: 'Dogs' });
  await send(gateway, 'POST /pets', { name: 'Rex', categoryId: 1 });
  await send(gateway, 'PUT /store/inventory/1', { quantity: 1000 });
}

interface Stock {
  orders: { totalCount: number };
  inventoryItem: { quantity: number };
}

async function stockOf(gateway: GatewayProcess): Promise<{ orders: number; left: number }> {
  const answer = await gateway.graphql('{ orders { totalCount } inventoryItem(petId: 1) { quantity } }', {
    'x-api-key': ADMIN_KEY,
  });
  const { orders, inventoryItem } = (answer as { data: Stock }).data;
  return { orders: orders.totalCount, left: inventoryItem.quantity };
}

onPostgres('two instances on one PostgreSQL', () => {
  let database: Awaited<ReturnType<typeof createDatabase>>;
  let instances: GatewayProcess[];
  const start = () =>
    GatewayProcess.start({
      DATABASE_URL: database.url ?? '',
      ADMIN_API_KEY: ADMIN_KEY,
      LOG_LEVEL: 'silent',
      PATH: process.env.PATH ?? '',
    });
  const instance = (i: number) => instances[i % 2] as GatewayProcess;
  beforeEach(async () => {
    database = await createDatabase();
    instances = await Promise.all([start(), start()]);
    await fillShop(instance(0));
  });
  afterEach(async () => {
    await Promise.all(instances.map((each) => each.stop('SIGKILL')));
    await database.drop();
  });

  test('50 parallel POSTs with one key create one order and get 50 equal responses', async () => {
    const order = { petId: 1, quantity: 3 };
    for (let round = 1; round <= 5; round++) {
      const firsts = await Promise.all(
        Array.from({ length: 50 }, (_, i) => send(instance(i), 'POST /store/orders', order, `k${round}`)),
      );
      expect(firsts.filter(({ status }) => status !== 201 && status !== 409)).toEqual([]);
      expect(firsts.filter(({ status, replayed }) => status === 201 && !replayed)).toHaveLength(1);
      const lasts = await Promise.all(
        firsts.map((first, i) =>
          first.status === 409 ? insist(instance(i), 'POST /store/orders', order, `k${round}`) : first,
        ),
      );
      expect(lasts.map(({ status }) => status)).toEqual(Array(50).fill(201));
      expect(new Set(lasts.map(({ text }) => text)).size).toBe(1);
      expect(await stockOf(instance(round))).toEqual({ orders: round, left: 1000 - 3 * round });
    }
  });

  // At the commit of an order, PostgreSQL waits for a lock. Then it commits, even if the gateway has been killed.
  const LOCK_COMMITS = `begin;
    create function wait() returns trigger language plpgsql as $$ begin perform pg_advisory_xact_lock(1); return null; end $$;
    create constraint trigger waits after insert on orders initially deferred for each row execute function wait();
    commit; begin; select pg_advisory_xact_lock(1)`;
  test.each([
    ['before the commit, a retry creates the order', 'begin; select from inventory for update', false],
    ['between the commit and the response, a retry gets the response', LOCK_COMMITS, true],
  ])('both instances reject a retry of a running request; if its instance is killed %s', async (_, lock, replayed) => {
    const [first, second] = instances as [GatewayProcess, GatewayProcess];
    const order = { petId: 1, quantity: 3 };
    const blocker = new Client({ connectionString: database.url });
    await blocker.connect();
    try {
      await blocker.query(lock);
      const lost = send(first, 'POST /store/orders', order, 'k').catch(() => 'no answer');
      await until(async () => {
        // Within a transaction, PostgreSQL reads the activity only once, unless the snapshot is cleared.
        await blocker.query('select pg_stat_clear_snapshot()');
        const { rows } = await blocker.query(
          `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        );
        return rows.length === 1;
      });

      const asked = Date.now();
      expect(await send(second, 'POST /store/orders', order, 'k')).toMatchObject({ status: 409 });
      expect(await send(first, 'POST /store/orders', order, 'k')).toMatchObject({ status: 409 });
      expect(Date.now() - asked).toBeLessThan(5000);
      await first.stop('SIGKILL');
      expect(await lost).toBe('no answer');
      await blocker.query('rollback');

      const answer = await insist(second, 'POST /store/orders', order, 'k');
      expect(answer).toMatchObject({ status: 201, replayed });
      expect(await stockOf(second)).toEqual({ orders: 1, left: 997 });
      expect(await send(second, 'POST /store/orders', order, 'k')).toEqual({ ...answer, replayed: true });
    } finally {
      await blocker.end();
    }
  });
});

const DATABASES = TEST_DATABASE_URL ? ['PostgreSQL', 'the embedded database'] : ['the embedded database'];

describe.each(DATABASES)('after kill -9 during requests with idempotency keys, on %s,', (kind) => {
  let directory: string;
  let database: Awaited<ReturnType<typeof createDatabase>> | undefined;
  let environment: Record<string, string>;
  beforeEach(async () => {
    directory = makeDirectory();
    copyData(directory);
    database = kind === 'PostgreSQL' ? await createDatabase() : undefined;
    environment = {
      ADMIN_API_KEY: ADMIN_KEY,
      LOG_LEVEL: 'silent',
      PATH: process.env.PATH ?? '',
      ...(database?.url ? { DATABASE_URL: database.url } : { DATA_DIR: directory }),
    };
  });
  afterEach(async () => {
    await database?.drop();
    rmSync(directory, { recursive: true });
  });

  test('retries create each order exactly once; a request answered before the kill gets the same response again', async () => {
    const answered = new Map<string, string>();
    const keys = Array.from({ length: 120 }, (_, i) => `order-${i}`);
    let gateway = await GatewayProcess.start(environment);
    await fillShop(gateway);
    for (const enough of [20, 60, 100]) {
      const waiting = keys.filter((key) => !answered.has(key));
      const worker = async () => {
        for (let key = waiting.shift(); key !== undefined; key = waiting.shift()) {
          const { status, text } = await insist(gateway, 'POST /store/orders', { petId: 1, quantity: 2 }, key);
          expect(status).toBe(201);
          answered.set(key, text);
          if (answered.size >= enough) void gateway.stop('SIGKILL');
        }
      };
      const ends = await Promise.allSettled(Array.from({ length: 8 }, worker));
      const failures = ends.flatMap((end) => (end.status === 'rejected' ? [String(end.reason)] : []));
      expect(new Set(failures)).toEqual(new Set(['TypeError: fetch failed']));
      await gateway.ended;
      gateway = await GatewayProcess.start(environment);
    }
    try {
      for (const key of keys) {
        const before = answered.get(key);
        const answer = await insist(gateway, 'POST /store/orders', { petId: 1, quantity: 2 }, key);
        expect(answer.status).toBe(201);
        if (before !== undefined) expect(answer).toEqual({ status: 201, text: before, replayed: true });
      }
      expect(await stockOf(gateway)).toEqual({ orders: 120, left: 1000 - 240 });
    } finally {
      await gateway.stop();
    }
  });
});
