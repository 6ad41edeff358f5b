import type { FastifyInstance } from 'fastify';
import { Client } from 'pg';
import { createApp } from '../src/app/app';
import { readConfig } from '../src/app/config';
import type { Database } from '../src/database/database';
import { openDatabase } from '../src/database/open';
import { createDatabase, TEST_DATABASE_URL } from './helper/database';
import { ADMIN_KEY } from './helper/gateway';
import { ask, Load, outcomes, type Tried } from './helper/load';
import { TcpProxy } from './helper/tcp-proxy';
import { HEADERS, isServed, isUnavailable, madeCategories, mixed } from './helper/traffic';
import { until } from './helper/until';

const REQUEST_TIMEOUT_MS = 2000;

/** The gateway, with a proxy to PostgreSQL that the test controls. */
class Shop {
  url = '';
  private constructor(
    readonly proxy: TcpProxy,
    readonly direct: Client,
    private readonly database: Database,
    private readonly server: FastifyInstance,
    private readonly drop: () => Promise<void>,
  ) {}

  static async open(environment: Record<string, string> = {}): Promise<Shop> {
    const { url = '', drop } = await createDatabase();
    const proxy = await TcpProxy.start(url);
    const config = readConfig({
      LOG_LEVEL: 'silent',
      ADMIN_API_KEY: ADMIN_KEY,
      REQUEST_TIMEOUT_MS: String(REQUEST_TIMEOUT_MS),
      ...environment,
    });
    const database = await openDatabase({
      url: proxy.url,
      directory: '',
      poolSize: config.DATABASE_POOL_SIZE,
      queue: config.DATABASE_QUEUE,
      requestTimeoutMs: config.REQUEST_TIMEOUT_MS,
    });
    const { server } = await createApp(config, database);
    const direct = new Client({ connectionString: url });
    await direct.connect();
    await direct.query('update api_keys set per_minute = 2147483647, per_day = 2147483647');
    const shop = new Shop(proxy, direct, database, server, drop);
    shop.url = await server.listen({ port: 0, host: '127.0.0.1' });
    return shop;
  }

  load(clients: number): Load {
    return new Load(this.url, clients, mixed, 5);
  }

  ask(path: string, more: object = {}): Promise<Tried> {
    return ask(this.url, { path, headers: HEADERS, ...more });
  }

  isReady = async () => (await this.ask('/readyz')).status === 200;
  isNotReady = async () => !(await this.isReady());

  async close(): Promise<void> {
    await this.server.close();
    await this.database.close().catch(() => undefined);
    await this.direct.end();
    await this.proxy.close();
    await this.drop();
  }
}

const longest = (tried: readonly Tried[]) => Math.max(...tried.map(({ took }) => took));

const onPostgres = TEST_DATABASE_URL ? describe : describe.skip;

onPostgres('without PostgreSQL', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await Shop.open();
  });
  afterAll(() => shop.close());

  /** The number of acknowledged categories that are missing. */
  const lost = async (tried: readonly Tried[]) => {
    const { rows } = await shop.direct.query('select id from categories');
    const there = new Set(rows.map(({ id }) => String(id)));
    return madeCategories(tried).filter((id) => !there.has(id)).length;
  };

  test.each<[string, () => Promise<void>, () => Promise<void>]>([
    ['stopped and started again', () => shop.proxy.goAway(), () => shop.proxy.comeBack()],
    ['silent, then back', async () => shop.proxy.fallSilent(), async () => shop.proxy.speak()],
  ])(
    '%s under load: only 503s, in bounded time, then normal service with every acknowledged write',
    async (_what, stop, start) => {
      const load = shop.load(6);
      await until(async () => load.tried.filter(isServed).length > 50, 20);
      await stop();
      await until(shop.isNotReady, 10);
      await until(async () => load.tried.filter(isUnavailable).length > 10, 20);
      expect((await shop.ask('/livez')).status).toBe(200);
      await start();
      await until(shop.isReady, 15);
      const ready = load.tried.length;
      await until(async () => load.tried.slice(ready).filter(isServed).length > 50, 20);
      const tried = await load.stop();
      expect(tried.filter((one) => !isServed(one) && !isUnavailable(one))).toEqual([]);
      expect(longest(tried)).toBeLessThan(REQUEST_TIMEOUT_MS + 1500);
      expect(await lost(tried)).toBe(0);
      expect(outcomes(await Promise.all([shop.ask('/pets'), shop.ask('/categories')]))).toEqual({ 200: 2 });
    },
  );

  test('broken connections are replaced without failing later requests', async () => {
    await shop.ask('/pets');
    shop.proxy.resetAll();
    await new Promise((resolve) => setTimeout(resolve, 100));
    const after = await Promise.all(Array.from({ length: 10 }, () => shop.ask('/pets')));
    expect(outcomes(after)).toEqual({ 200: 10 });
  });

  test('sessions ended by an administrator under load cause at most 503s', async () => {
    const load = shop.load(6);
    for (let i = 1; i <= 5; i++) {
      await until(async () => load.tried.length > i * 40, 20);
      await shop.direct.query(
        "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'petstore-gateway'",
      );
    }
    const tried = await load.stop();
    expect(tried.filter((one) => !isServed(one) && !isUnavailable(one))).toEqual([]);
    expect(await lost(tried)).toBe(0);
  });

  test('a 503 has the Error object and Retry-After', async () => {
    await shop.proxy.goAway();
    const response = await fetch(`${shop.url}/pets`, { headers: HEADERS });
    expect(response.status).toBe(503);
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await response.json()).toEqual({
      code: 'SERVICE_UNAVAILABLE',
      message: expect.not.stringMatching(/ECONN|prisma|postgres/i),
      status: 503,
      requestId: expect.any(String),
    });
    await shop.proxy.comeBack();
    await until(shop.isReady);
  });

  test('a cached key is recognised, an uncached one gets 503, and neither ever gets 401', async () => {
    const unknown = { 'x-api-key': `ps_zzzzzzzzzzzz_${'z'.repeat(32)}` };
    expect((await shop.ask('/rate_limit')).status).toBe(200);
    await shop.proxy.goAway();
    expect(JSON.parse((await shop.ask('/rate_limit')).body ?? '')).toMatchObject({ plan: 'ENTERPRISE' });
    expect((await shop.ask('/rate_limit', { headers: unknown })).status).toBe(503);
    await new Promise((resolve) => setTimeout(resolve, 5_100));
    expect((await shop.ask('/rate_limit')).status).toBe(503);
    await shop.proxy.comeBack();
    await until(shop.isReady);
    expect((await shop.ask('/rate_limit')).status).toBe(200);
    expect((await shop.ask('/rate_limit', { headers: unknown })).status).toBe(401);
  });
});

onPostgres('with a slow PostgreSQL', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await Shop.open({ DATABASE_POOL_SIZE: '2', DATABASE_QUEUE: '3' });
    await shop.ask('/categories', { method: 'POST', body: '{"name":"Dogs"}' });
  });
  afterAll(() => shop.close());

  const whileLocked = async <T>(work: () => Promise<T>): Promise<T> => {
    await shop.direct.query('begin; lock table categories in access exclusive mode');
    try {
      return await work();
    } finally {
      await shop.direct.query('rollback');
    }
  };
  const rename = () => shop.ask('/categories/1', { method: 'PATCH', body: '{"name":"Cats"}' });
  const statements = async () => {
    // Within a transaction it would keep showing the same snapshot.
    await shop.direct.query('select pg_stat_clear_snapshot()');
    const { rows } = await shop.direct.query(
      "select count(*)::int as n from pg_stat_activity where datname = current_database() and application_name = 'petstore-gateway' and state <> 'idle'",
    );
    return rows[0].n as number;
  };

  test('a request that times out gets 503, its statement is cancelled, and nothing is half done', async () => {
    await whileLocked(async () => {
      const both = await Promise.all([rename(), shop.ask('/categories')]);
      expect(both.map(({ status }) => status)).toEqual([503, 503]);
      expect(longest(both)).toBeLessThan(REQUEST_TIMEOUT_MS + 600);
      await until(async () => (await statements()) === 0);
    });
    expect(JSON.parse((await shop.ask('/categories/1')).body ?? '')).toMatchObject({ name: 'Dogs' });
    expect((await rename()).status).toBe(200);
  });

  test('when all connections are in use and the queue is full, requests are refused at once', async () => {
    await whileLocked(async () => {
      const waiting = Array.from({ length: 5 }, () => shop.ask('/categories'));
      await new Promise((resolve) => setTimeout(resolve, 200));
      const refused = await shop.ask('/categories');
      expect(refused.status).toBe(503);
      expect(refused.took).toBeLessThan(500);
      expect(JSON.parse(refused.body ?? '')).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
      expect((await shop.ask('/rate_limit')).status).toBe(200);
      const { body = '' } = await shop.ask('/metrics');
      expect(body).toContain('petstore_database_connections{state="total"} 2');
      expect(body).toContain('petstore_database_connections{state="idle"} 0');
      expect(body).toMatch(/^petstore_database_waiting [1-9]$/m);
      expect(outcomes(await Promise.all(waiting))).toEqual({ 503: 5 });
    });
    await until(shop.isReady);
    expect(outcomes(await Promise.all([shop.ask('/categories'), rename()]))).toEqual({ 200: 2 });
  });

  test('when every connection is in use, readiness stays on', async () => {
    await whileLocked(async () => {
      const waiting = Array.from({ length: 5 }, () => shop.ask('/categories'));
      // The previous result is cached for half a second.
      await new Promise((resolve) => setTimeout(resolve, 600));
      expect((await shop.ask('/readyz')).status).toBe(200);
      await Promise.all(waiting);
    });
  });
});

const REDIS_URL = process.env.TEST_REDIS_URL;
const onRedis = TEST_DATABASE_URL && REDIS_URL ? test : test.skip;

onRedis('without Redis no request fails; readiness stays on and reports it, as do the metrics', async () => {
  const proxy = await TcpProxy.start(REDIS_URL ?? '');
  const shop = await Shop.open({ REDIS_URL: proxy.url });
  const limits = async () => JSON.parse((await shop.ask('/readyz')).body ?? '').checks.limits;
  const load = shop.load(4);
  await until(async () => load.tried.length > 30, 20);
  expect(await limits()).toBe('redis');
  for (const [stop, start] of [
    [() => proxy.goAway(), () => proxy.comeBack()],
    [async () => proxy.fallSilent(), async () => proxy.speak()],
  ] as const) {
    await stop();
    await until(async () => (await limits()) === 'fallback', 10);
    const { body = '' } = await shop.ask('/metrics');
    expect(body).toContain('petstore_limiter_store{state="fallback"} 1');
    await start();
    await until(async () => (await limits()) === 'redis', 20);
  }
  const tried = await load.stop();
  expect(tried.filter((one) => !isServed(one))).toEqual([]);
  await shop.close();
  await proxy.close();
});
