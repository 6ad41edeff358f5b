import { Client } from 'pg';
import { TEST_DATABASE_URL } from './helper/database';
import { ask, Load } from './helper/load';
import { CAN_START_POSTGRES, PostgresServer, type Stop } from './helper/postgres-server';
import { GatewayProcess } from './helper/process';
import { environmentOf } from './helper/production';
import { REDIS_BINARY, RedisServer } from './helper/redis-server';
import { isServed, isUnavailable, madeCategories, mixed } from './helper/traffic';
import { until } from './helper/until';

const onOwnServers = TEST_DATABASE_URL && CAN_START_POSTGRES && REDIS_BINARY ? describe : describe.skip;

onOwnServers('a gateway with two workers whose servers really stop', () => {
  let postgres: PostgresServer;
  let redis: RedisServer;
  let gateway: GatewayProcess;
  beforeAll(async () => {
    [postgres, redis] = await Promise.all([PostgresServer.start(), RedisServer.start(REDIS_BINARY ?? '')]);
    await until(async () => (await query('select 1')).length === 1, 20);
    gateway = await GatewayProcess.start({
      ...environmentOf(postgres.url, redis.url),
      WEB_CONCURRENCY: '2',
      METRICS_PORT: '0',
      REQUEST_TIMEOUT_MS: '3000',
    });
    await until(async () => (await gateway.serving()) === 2, 20);
    await query('update api_keys set per_minute = 2147483647, per_day = 2147483647');
  });
  afterAll(async () => {
    await gateway?.stop('SIGKILL');
    await Promise.all([postgres?.remove(), redis?.remove()]);
  });

  async function query(sql: string) {
    const client = await connected(postgres.url);
    try {
      return (await client?.query(sql))?.rows ?? [];
    } finally {
      await client?.end();
    }
  }

  /** Whether every worker, asked in turn, says that it is ready, or that it is not. */
  const areReady = async (ready: boolean) => {
    const asked = Array.from({ length: 6 }, () => fresh('/readyz'));
    return (await Promise.all(asked)).every(({ status }) => status === (ready ? 200 : 503));
  };
  const fresh = (path: string) => ask(gateway.url, { path, headers: { connection: 'close' } });

  test.each<[string, Stop]>([
    ['shuts down', 'SIGINT'],
    ['crashes', 'SIGQUIT'],
  ])(
    'PostgreSQL %s under load and is restarted: only 503s in between, then normal service by the same processes with every acknowledged write',
    async (_how, stop) => {
      const { workers } = gateway;
      const load = new Load(gateway.url, 6, mixed, 5);
      const servedSince = (index: number) => load.tried.slice(index).filter(isServed).length;
      await until(async () => servedSince(0) > 100, 20);
      await postgres.stop(stop);
      await until(async () => load.tried.filter(isUnavailable).length > 20, 20);
      expect((await fresh('/livez')).status).toBe(200);
      // The server's last answer is believed for a while: without this wait, the one from before it stopped.
      await until(() => areReady(false), 20);
      await postgres.start();
      await until(() => areReady(true), 30);
      const back = performance.now();
      const then = load.tried.length;
      await until(async () => servedSince(then) > 100, 20);
      const tried = await load.stop();
      expect(tried.filter((one) => !isServed(one) && !isUnavailable(one))).toEqual([]);
      expect(tried.filter((one) => one.at > back && !isServed(one))).toEqual([]);
      expect(gateway.workers).toEqual(workers);

      const there = new Set((await query('select id from categories')).map(({ id }) => String(id)));
      const written = madeCategories(tried);
      expect(written.length).toBeGreaterThan(20);
      expect(written.filter((id) => !there.has(id))).toEqual([]);
    },
  );

  test('Redis is killed under load and restarted: no request fails, and limits are shared again', async () => {
    const { workers } = gateway;
    const counting = async (state: string) =>
      (await gateway.metrics()).includes(`petstore_limiter_store{state="${state}"} 2`);
    const load = new Load(gateway.url, 6, mixed, 5);
    await until(async () => load.tried.length > 100, 20);
    expect(await counting('redis')).toBe(true);
    await redis.kill();
    await until(() => counting('fallback'), 20);
    // Half of an anonymous caller's quota, as there are two workers.
    expect((await fetch(`${gateway.url}/pets`)).headers.get('ratelimit-policy')).toContain('"minute";q=15;');
    await redis.start();
    await until(() => counting('redis'), 20);
    const back = load.tried.length;
    await until(async () => load.tried.length > back + 50, 20);
    const tried = await load.stop();
    expect(tried.filter((one) => !isServed(one))).toEqual([]);
    expect(gateway.workers).toEqual(workers);
  });
});

async function connected(connectionString: string): Promise<Client | undefined> {
  const client = new Client({ connectionString });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return client;
  } catch {
    return undefined;
  }
}
