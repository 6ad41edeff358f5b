import { ask, Load, type Tried } from '../helper/load';
import { CAN_START_POSTGRES, PostgresServer } from '../helper/postgres-server';
import { GatewayProcess } from '../helper/process';
import { environmentOf } from '../helper/production';
import { REDIS_BINARY, RedisServer } from '../helper/redis-server';
import { TcpProxy } from '../helper/tcp-proxy';
import { isServed, isUnavailable, madeCategories, mixed } from '../helper/traffic';
import { until } from '../helper/until';

const REQUEST_TIMEOUT_MS = 2000;
const onOwnServers = CAN_START_POSTGRES && REDIS_BINARY ? describe : describe.skip;

onOwnServers('under load, two workers', () => {
  let postgres: PostgresServer;
  let redis: RedisServer;
  let proxy: TcpProxy;
  let gateway: GatewayProcess;
  let workers: number[];
  let load: Load;
  beforeAll(async () => {
    [postgres, redis] = await Promise.all([PostgresServer.start(), RedisServer.start(REDIS_BINARY ?? '')]);
    proxy = await TcpProxy.start(postgres.url);
    gateway = await GatewayProcess.start({
      ...environmentOf(proxy.url, redis.url),
      WEB_CONCURRENCY: '2',
      METRICS_PORT: '0',
      REQUEST_TIMEOUT_MS: String(REQUEST_TIMEOUT_MS),
    });
    await until(async () => (await gateway.serving()) === 2, 20);
    await postgres.query('update api_keys set per_minute = 2147483647, per_day = 2147483647');
    ({ workers } = gateway);
  });
  beforeEach(() => {
    load = new Load(gateway.url, 6, mixed, 5);
    return served(100);
  });
  afterEach(() => {
    expect(gateway.workers).toEqual(workers);
  });
  afterAll(async () => {
    await gateway?.stop('SIGKILL');
    await proxy?.close();
    await Promise.all([postgres?.remove(), redis?.remove()]);
  });

  /** Waits until this many more requests have been served. */
  const served = (count: number) => {
    const before = load.tried.length;
    return until(() => load.tried.slice(before).filter(isServed).length > count, 30);
  };
  const fresh = (path: string) => ask(gateway.url, { path, headers: { connection: 'close' } });
  /** Whether six readiness checks report this state. Each check uses a new connection, so both workers are checked. */
  const areReady = async (isReady: boolean) => {
    const asked = await Promise.all(Array.from({ length: 6 }, () => fresh('/readyz')));
    return asked.every(({ status }) => status === (isReady ? 200 : 503));
  };
  const lost = async (tried: readonly Tried[]) => {
    const kept = new Set((await postgres.query('select id from categories')).map(({ id }) => String(id)));
    return madeCategories(tried).filter((id) => !kept.has(id));
  };

  test.each<[string, () => unknown, () => unknown]>([
    ['shuts down', () => postgres.stop('SIGINT'), () => postgres.start()],
    ['crashes', () => postgres.stop('SIGQUIT'), () => postgres.start()],
    ['stops responding', () => proxy.fallSilent(), () => proxy.speak()],
  ])(
    'respond with 503 in bounded time after PostgreSQL %s, then serve again without a lost write',
    async (_how, stop, start) => {
      await stop();
      await until(() => load.tried.filter(isUnavailable).length > 20, 20);
      expect((await fresh('/livez')).status).toBe(200);
      await until(() => areReady(false), 20);
      await start();
      await until(() => areReady(true), 30);
      const back = performance.now();
      await served(100);
      const tried = await load.stop();
      expect(tried.filter((one) => !isServed(one) && !isUnavailable(one))).toEqual([]);
      expect(tried.filter((one) => one.at > back && !isServed(one))).toEqual([]);
      expect(Math.max(...tried.map(({ took }) => took))).toBeLessThan(REQUEST_TIMEOUT_MS + 1500);
      expect(madeCategories(tried).length).toBeGreaterThan(20);
      expect(await lost(tried)).toEqual([]);
    },
  );

  test('respond with 2xx or 503, and lose no write, when an administrator ends their database sessions', async () => {
    for (let i = 1; i <= 5; i++) {
      await served(40);
      await postgres.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'petstore-gateway'`,
      );
    }
    const tried = await load.stop();
    expect(tried.filter((one) => !isServed(one) && !isUnavailable(one))).toEqual([]);
    expect(await lost(tried)).toEqual([]);
  });

  test.each<[string, () => unknown, () => unknown]>([
    ['is killed', () => redis.kill(), () => redis.start()],
    ['stops responding', () => redis.freeze(), () => redis.thaw()],
  ])('fail no request when Redis %s, and share limits again when Redis is back', async (_how, stop, start) => {
    const counting = async (state: string) =>
      (await gateway.metrics()).includes(`petstore_limiter_store{state="${state}"} 2`);
    const reported = async () => JSON.parse((await fresh('/readyz')).body ?? '').checks.limits;
    await until(() => counting('redis'));
    await stop();
    await until(() => counting('fallback'), 20);
    expect(await reported()).toBe('fallback');
    // While Redis is down, each of the two workers enforces a quarter of the quota of 60.
    expect((await fetch(`${gateway.url}/pets`)).headers.get('ratelimit-policy')).toContain('"minute";q=15;');
    await start();
    await until(() => counting('redis'), 20);
    expect(await reported()).toBe('redis');
    await served(50);
    expect((await load.stop()).filter((one) => !isServed(one))).toEqual([]);
  });
});
