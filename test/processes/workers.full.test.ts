import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createDatabase } from '../helper/database';
import { ask, Load, outcomes, type Tried } from '../helper/load';
import { type Ending, GatewayProcess, logOf } from '../helper/process';
import { createProduction, environmentOf, onServers, type Production, TEST_REDIS_URL } from '../helper/production';
import { isServed, mixed } from '../helper/traffic';
import { until } from '../helper/until';

const CLIENTS = 12;

onServers('two workers', () => {
  let production: Production;
  let running: GatewayProcess | undefined;
  beforeAll(async () => {
    production = await createProduction();
  });
  afterEach(() => running?.stop('SIGKILL'));
  afterAll(() => production.drop());

  const environment = (more: Record<string, string> = {}) => ({
    ...production.environment,
    WEB_CONCURRENCY: '2',
    METRICS_PORT: '0',
    ...more,
  });

  /** Starts the gateway, and puts it under load once both workers serve. */
  async function startUnderLoad(more: Record<string, string> = {}) {
    const gateway = await GatewayProcess.start(environment(more));
    running = gateway;
    await until(async () => (await gateway.serving()) === 2, 20);
    const load = new Load(gateway.url, CLIENTS, mixed);
    await until(async () => load.tried.filter(isServed).length > 100, 30);
    return { gateway, load };
  }

  test.each<[string, (gateway: GatewayProcess) => Promise<Ending>, string]>([
    ['SIGTERM', (gateway) => gateway.stop('SIGTERM'), '0'],
    ["SIGINT to all processes, as a terminal's Ctrl-C,", (gateway) => gateway.stopAll('SIGINT'), '300'],
  ])('%s under load drops no request and exits with 0; log lines are whole', async (_what, stop, delay) => {
    const { gateway, load } = await startUnderLoad({ SHUTDOWN_DELAY_MS: delay, LOG_LEVEL: 'info' });
    const { code, signal, stdout, stderr } = await stop(gateway);
    expect({ code, signal, stderr }).toEqual({ code: 0, signal: null, stderr: '' });
    const tried = await load.stop();
    // A refused connection was never accepted: each client gets one, and then stops.
    expect(others(tried, ['ECONNREFUSED'])).toEqual([]);
    expect(tried.filter(({ connection }) => connection === 'close').length).toBeGreaterThan(0);

    const requests = logOf(stdout).filter(({ msg }) => msg === 'request');
    expect(requests.length).toBeGreaterThanOrEqual(tried.filter(isServed).length);
    expect(new Set(requests.map(({ pid }) => pid)).size).toBe(2);
  });

  test('a killed one loses only what it was doing, and is replaced; without their primary they answer what they have accepted, and exit', async () => {
    const { gateway, load } = await startUnderLoad();
    const [lost = Number.NaN, other = Number.NaN] = gateway.workers;
    process.kill(lost, 'SIGKILL');
    await until(async () => gateway.workers.length === 2 && !gateway.workers.includes(lost), 20);
    await until(async () => (await gateway.serving()) === 2, 20);
    expect(gateway.workers).toContain(other);
    expect(await gateway.metrics()).toMatch(/^petstore_workers_lost_total 1$/m);
    const failed = others(load.tried);
    expect(failed.length).toBeLessThanOrEqual(CLIENTS);

    const { workers, pid } = gateway;
    const after = load.tried.length;
    process.kill(pid, 'SIGKILL');
    const refused = () => load.tried.filter(({ error }) => error === 'ECONNREFUSED').length;
    await until(async () => refused() === CLIENTS, 20);
    // A connection that the primary had accepted and not yet handed on is reset with it.
    expect(others((await load.stop()).slice(after), ['ECONNREFUSED', 'ECONNRESET'])).toEqual([]);
    await until(async () => !workers.some(isAlive), 15);
  });

  describe('of which one cannot start', () => {
    const ended = async (more: Record<string, string>) => {
      const { code, stdout, stderr } = await new GatewayProcess(environment(more)).ended;
      return { code, stdout, stderr };
    };

    test('because of its database: print one line and exit with 1', async () => {
      expect(await ended({ DATABASE_URL: 'postgresql://127.0.0.1:1/petstore' })).toEqual({
        code: 1,
        stdout: '',
        stderr: expect.stringMatching(/^petstore-gateway: [^\n]*ECONNREFUSED[^\n]*\n$/),
      });
    });

    test('because of its port: the same', async () => {
      const taken = createServer().listen(0, '127.0.0.1');
      await once(taken, 'listening');
      const { port } = taken.address() as AddressInfo;
      expect(await ended({ PORT: String(port) })).toEqual({
        code: 1,
        stdout: '',
        stderr: expect.stringMatching(/^petstore-gateway: port \d+ is taken [^\n]*PORT=\d+ npm start\n$/),
      });
      taken.close();
    });

    test.each([1, 2])('because worker %i is killed before it serves: the same', async (nth) => {
      const gateway = new GatewayProcess(environment({ PORT: '0' }));
      const seen = new Set<number>();
      while (seen.size < nth) {
        for (const pid of gateway.workers) seen.add(pid);
        await sleep(5);
      }
      process.kill([...seen][nth - 1] ?? Number.NaN, 'SIGKILL');
      const { code, stderr } = await gateway.ended;
      expect({ code, stderr }).toEqual({
        code: 1,
        stderr: 'petstore-gateway: a worker exited with SIGKILL\n',
      });
      await until(async () => ![...seen].some(isAlive));
    });
  });
});

onServers('three workers on an empty database', () => {
  test('create one admin key and show it once, share one scrape, and exit at once on a second signal', async () => {
    const { url = '', drop } = await createDatabase();
    const { ADMIN_API_KEY: _, ...environment } = environmentOf(url, TEST_REDIS_URL);
    const gateway = await GatewayProcess.start({
      ...environment,
      WEB_CONCURRENCY: '3',
      METRICS_PORT: '0',
      TRUST_PROXY: '1',
      SHUTDOWN_DELAY_MS: '60000',
    });
    try {
      const { report } = gateway;
      await until(async () => (await gateway.serving()) === 3, 30);
      expect(gateway.stdout.match(/Petstore Gateway/g)).toHaveLength(1);
      const { host, pathname } = new URL(TEST_REDIS_URL ?? '');
      expect(report).toMatchObject({ Workers: 3, Limits: `Redis at ${host}${pathname}`, Proxies: '1 hop' });

      const headers = { 'x-api-key': String(report['Admin key']) };
      // Each on its own connection: they go to the workers in turn.
      const asked = Array.from({ length: 12 }, () => ask(gateway.url, { path: '/pets/7', headers }));
      expect(outcomes(await Promise.all(asked))).toEqual({ 404: 12 });
      const text = await gateway.metrics();
      expect(text).toContain('petstore_request_duration_seconds_count{operation="getPet",status="4xx"} 12');
      expect(text).toContain('petstore_limiter_store{state="redis"} 3');
      expect(text).toContain('petstore_limiter_decisions_total{decision="allowed"} 12');
      expect((await ask(gateway.url, { path: '/metrics' })).status).toBe(404);

      const { workers } = gateway;
      void gateway.stop('SIGTERM');
      await until(async () => (await ask(gateway.url, { path: '/readyz' })).status === 503);
      expect(await gateway.stop('SIGINT')).toMatchObject({ code: 1, signal: null });
      await until(async () => !workers.some(isAlive));
    } finally {
      await gateway.stop('SIGKILL');
      await drop();
    }
  });
});

/** Requests that were neither served nor failed with an expected error. */
function others(tried: readonly Tried[], errors: string[] = []): Tried[] {
  return tried.filter((one) => !isServed(one) && !errors.includes(one.error ?? ''));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
