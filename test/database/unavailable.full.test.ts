import { Client } from 'pg';
import { createDatabase, TEST_DATABASE_URL } from '../helper/database';
import { type Gateway, startGatewayOn } from '../helper/gateway';
import { outcomes } from '../helper/load';
import { TcpProxy } from '../helper/tcp-proxy';
import { until } from '../helper/until';

const REQUEST_TIMEOUT_MS = 2000;
const onPostgres = TEST_DATABASE_URL ? describe : describe.skip;

onPostgres('while PostgreSQL is unavailable', () => {
  let home: Awaited<ReturnType<typeof createDatabase>>;
  let proxy: TcpProxy;
  let direct: Client;
  let gateway: Gateway;
  beforeEach(async () => {
    home = await createDatabase();
    proxy = await TcpProxy.start(home.url ?? '');
    direct = new Client({ connectionString: home.url }).on('error', () => undefined);
    await direct.connect();
    const settings = { REQUEST_TIMEOUT_MS: String(REQUEST_TIMEOUT_MS), DATABASE_POOL_SIZE: '2' };
    gateway = await startGatewayOn(proxy.url, settings, 3);
    await ask('/categories', { method: 'POST', payload: { name: 'Dogs' } });
  });
  afterEach(async () => {
    await gateway.close().catch(() => undefined);
    await direct.end();
    await proxy.close();
    await home.drop();
  });

  async function ask(url: string, more: object = {}) {
    const at = performance.now();
    const { statusCode: status, headers, body } = await gateway.app.inject({ url, ...more });
    return { at, took: performance.now() - at, status, headers, body };
  }
  const rename = () => ask('/categories/1', { method: 'PATCH', payload: { name: 'Cats' } });
  const isReady = async () => (await ask('/readyz')).status === 200;
  const ownSessions = `datname = current_database() and application_name = 'petstore-gateway'`;
  const whileLocked = async (work: () => Promise<void>) => {
    await direct.query('begin; lock table categories in access exclusive mode');
    try {
      await work();
    } finally {
      await direct.query('rollback');
    }
  };

  test('a 503 response has an Error object and the header Retry-After', async () => {
    await proxy.goAway();
    const { status, headers, body } = await ask('/pets');
    expect(status).toBe(503);
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    expect(JSON.parse(body)).toEqual({
      code: 'SERVICE_UNAVAILABLE',
      message: expect.not.stringMatching(/ECONN|prisma|postgres/i),
      status: 503,
      requestId: expect.any(String),
    });
  });

  test('broken connections are replaced without failing later requests', async () => {
    await ask('/pets');
    proxy.resetAll();
    await until(() => proxy.connections === 0);
    expect(outcomes(await Promise.all([1, 2, 3].map(() => ask('/pets'))))).toEqual({ 200: 3 });
  });

  test('requests with a cached key are served for 5 s, and requests with other keys get 503 instead of 401', async () => {
    const unknown = { headers: { 'x-api-key': `ps_zzzzzzzzzzzz_${'z'.repeat(32)}` } };
    expect((await ask('/rate_limit')).status).toBe(200);
    await proxy.goAway();
    expect(JSON.parse((await ask('/rate_limit')).body)).toMatchObject({ plan: 'ENTERPRISE' });
    expect((await ask('/rate_limit', unknown)).status).toBe(503);
    await until(async () => (await ask('/rate_limit')).status === 503, 7);
    await proxy.comeBack();
    await until(isReady);
    expect((await ask('/rate_limit')).status).toBe(200);
    expect((await ask('/rate_limit', unknown)).status).toBe(401);
  });

  test('a request that times out gets 503, its statement is cancelled, and no change is kept', async () => {
    await whileLocked(async () => {
      const both = await Promise.all([rename(), ask('/categories')]);
      expect(outcomes(both)).toEqual({ 503: 2 });
      expect(Math.max(...both.map(({ took }) => took))).toBeLessThan(REQUEST_TIMEOUT_MS + 600);
      await until(async () => {
        // Within a transaction, pg_stat_activity keeps its first result until the snapshot is cleared.
        await direct.query('select pg_stat_clear_snapshot()');
        const active = `select from pg_stat_activity where ${ownSessions} and state <> 'idle'`;
        return (await direct.query(active)).rows.length === 0;
      });
    });
    expect(JSON.parse((await ask('/categories/1')).body)).toMatchObject({ name: 'Dogs' });
    expect((await rename()).status).toBe(200);
  });

  test('metrics do not wait until a connection is free', async () => {
    await whileLocked(async () => {
      const waiting = [ask('/categories'), ask('/categories')];
      await until(() => gateway.database.load.total === 2 && gateway.database.load.idle === 0);
      const metrics = await ask('/metrics');
      expect([metrics.status, metrics.took < 1000]).toEqual([200, true]);
      expect(metrics.body).toMatch(/^petstore_database_connections\{state="idle"\} 0$/m);
      await Promise.all(waiting);
    });
  });

  test('requests are rejected at once if the queue for connections is full, and readiness checks still succeed', async () => {
    await whileLocked(async () => {
      const waiting = Array.from({ length: 5 }, () => ask('/categories'));
      await until(() => gateway.database.load.waiting === 3);
      const metrics = await ask('/metrics');
      expect(metrics.body).toMatch(/^petstore_database_waiting 3$/m);
      expect(metrics.took).toBeLessThan(500);
      const refused = await ask('/categories');
      expect(refused.status).toBe(503);
      expect(refused.took).toBeLessThan(500);
      expect((await ask('/rate_limit')).status).toBe(200);
      const { body } = await ask('/metrics');
      expect(body).toContain('petstore_database_connections{state="total"} 2');
      expect(body).toContain('petstore_database_connections{state="idle"} 0');
      // The gateway caches the result of the readiness check for half a second.
      await new Promise((resolve) => setTimeout(resolve, 600));
      expect(await isReady()).toBe(true);
      expect(outcomes(await Promise.all(waiting))).toEqual({ 503: 5 });
    });
    expect(outcomes(await Promise.all([ask('/categories'), rename()]))).toEqual({ 200: 2 });
  });

  test('requests get 503 while the database accepts no connections (SQLSTATE 55000), and work afterwards', async () => {
    const server = new Client({ connectionString: TEST_DATABASE_URL });
    await server.connect();
    const name = new URL(home.url ?? '').pathname.slice(1);
    const accept = (accepts: boolean) => server.query(`alter database ${name} with allow_connections ${accepts}`);
    await accept(false);
    const others = 'select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and pid <> $2';
    const { rows } = await direct.query('select pg_backend_pid() as pid');
    await server.query(others, [name, rows[0].pid]);
    for (let i = 0; i < 3; i++) {
      expect(outcomes([await ask('/pets'), await rename()])).toEqual({ 503: 2 });
      const { status, errors } = await gateway.graphql('{ pets { nodes { id } } }');
      expect([status, errors[0]?.extensions]).toMatchObject([200, { code: 'SERVICE_UNAVAILABLE', status: 503 }]);
    }
    await accept(true);
    await until(async () => (await ask('/pets')).status === 200);
    expect((await rename()).status).toBe(200);
    await server.end();
  });
});
