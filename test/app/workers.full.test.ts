import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { command } from '../helper/command';
import { createDatabase } from '../helper/database';
import { freePort } from '../helper/free-port';
import { ask, Load, outcomes, type Tried } from '../helper/load';
import { type Ending, GatewayProcess, logOf, Program } from '../helper/process';
import { createProduction, environmentOf, onServers, type Production, TEST_REDIS_URL } from '../helper/production';
import { isServed, mixed } from '../helper/traffic';
import { until } from '../helper/until';

const CLIENTS = 12;

/** Requests that were not served, except requests that failed with an expected error. */
const failed = (tried: readonly Tried[], expected: string[] = []) =>
  tried.filter((one) => !isServed(one) && !expected.includes(one.error ?? ''));

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

onServers('with two workers,', () => {
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

  async function startUnderLoad(more: Record<string, string> = {}) {
    const gateway = await GatewayProcess.start(environment(more));
    running = gateway;
    await until(async () => (await gateway.serving()) === 2, 20);
    const load = new Load(gateway.url, CLIENTS, mixed);
    await until(() => load.tried.filter(isServed).length > 100, 30);
    return { gateway, load };
  }

  test.each<[string, (gateway: GatewayProcess) => Promise<Ending>, string]>([
    ['SIGTERM', (gateway) => gateway.stop('SIGTERM'), '0'],
    ['SIGINT to all processes (as with Ctrl+C)', (gateway) => gateway.stopAll('SIGINT'), '300'],
  ])('the gateway under load exits with code 0 on %s, and drops no request or log line', async (_what, stop, delay) => {
    const { gateway, load } = await startUnderLoad({ SHUTDOWN_DELAY_MS: delay, LOG_LEVEL: 'info' });
    const { stdout, ...ending } = await stop(gateway);
    expect(ending).toEqual({ code: 0, signal: null, stderr: '' });
    const tried = await load.stop();
    // Each client stops at its first refused connection, so ECONNREFUSED is expected.
    expect(failed(tried, ['ECONNREFUSED'])).toEqual([]);
    expect(tried.filter(({ connection }) => connection === 'close')).not.toEqual([]);
    const requests = logOf(stdout).filter(({ msg }) => msg === 'request');
    expect(requests.length).toBeGreaterThanOrEqual(tried.filter(isServed).length);
    expect(new Set(requests.map(({ pid }) => pid)).size).toBe(2);
  });

  test('a killed worker loses only its requests in progress, and is replaced', async () => {
    const { gateway, load } = await startUnderLoad();
    const [lost = Number.NaN, other] = gateway.workers;
    process.kill(lost, 'SIGKILL');
    let slowestMs = 0;
    await until(async () => {
      const before = performance.now();
      const serving = await gateway.serving();
      slowestMs = Math.max(slowestMs, performance.now() - before);
      return gateway.workers.length === 2 && !gateway.workers.includes(lost) && serving === 2;
    }, 20);
    // Prometheus gets metrics while the new worker starts.
    expect(slowestMs).toBeLessThan(4_000);
    expect(gateway.workers).toContain(other);
    expect(await gateway.metrics()).toMatch(/^petstore_workers_lost_total 1$/m);
    expect(failed(await load.stop()).length).toBeLessThanOrEqual(CLIENTS);
  });

  test('when the primary process is killed, workers answer the requests that they accepted, and then exit', async () => {
    const { gateway, load } = await startUnderLoad();
    const { workers, pid } = gateway;
    process.kill(pid, 'SIGKILL');
    await until(() => load.tried.filter(({ error }) => error === 'ECONNREFUSED').length === CLIENTS, 20);
    // A connection that the primary process had not yet handed to a worker is reset.
    expect(failed(await load.stop(), ['ECONNREFUSED', 'ECONNRESET'])).toEqual([]);
    await until(() => !workers.some(isAlive));
  });

  test('if the database or the port cannot be used, the start fails with a one-line error', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    const starts: [more: Record<string, string>, line: RegExp][] = [
      [{ DATABASE_URL: 'postgresql://127.0.0.1:1/petstore' }, /^petstore-gateway: [^\n]*ECONNREFUSED[^\n]*\n$/],
      [{ PORT: String(port) }, /^petstore-gateway: port \d+ is taken [^\n]*PORT=\d+ npm start\n$/],
    ];
    for (const [more, line] of starts) {
      const { code, stdout, stderr } = await new GatewayProcess(environment(more)).ended;
      expect({ code, stdout, stderr }).toEqual({ code: 1, stdout: '', stderr: expect.stringMatching(line) });
    }
    taken.close();
  });

  test.each([1, 2])('if worker %i is killed before it serves, the start fails with a one-line error', async (nth) => {
    const gateway = new GatewayProcess(environment({ PORT: '0' }));
    const seen = new Set<number>();
    await until(() => {
      for (const pid of gateway.workers) seen.add(pid);
      return seen.size >= nth;
    });
    process.kill([...seen][nth - 1] ?? Number.NaN, 'SIGKILL');
    const { code, stderr } = await gateway.ended;
    expect({ code, stderr }).toEqual({ code: 1, stderr: 'petstore-gateway: a worker exited with SIGKILL\n' });
    await until(() => ![...seen].some(isAlive));
  });
});

onServers('three workers on an empty database', () => {
  test('create and print one admin key, report metrics of all workers together, and exit at once on a second signal', async () => {
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
      const { report, workers } = gateway;
      await until(async () => (await gateway.serving()) === 3, 30);
      expect(gateway.stdout.match(/Petstore Gateway/g)).toHaveLength(1);
      const { host, pathname } = new URL(TEST_REDIS_URL ?? '');
      expect(report).toMatchObject({ Workers: 3, Limits: `Redis at ${host}${pathname}`, Proxies: '1 hop' });

      const headers = { 'x-api-key': String(report['Admin key']) };
      // Connections are distributed to the workers round-robin.
      const asked = Array.from({ length: 12 }, () => ask(gateway.url, { path: '/pets/7', headers }));
      expect(outcomes(await Promise.all(asked))).toEqual({ 404: 12 });
      const text = await gateway.metrics();
      expect(text).toContain('petstore_request_duration_seconds_count{operation="getPet",status="4xx"} 12');
      expect(text).toContain('petstore_limiter_store{state="redis"} 3');
      expect(text).toContain('petstore_limiter_decisions_total{decision="allowed"} 12');
      expect((await ask(gateway.url, { path: '/metrics' })).status).toBe(404);

      void gateway.stop('SIGTERM');
      await until(async () => (await ask(gateway.url, { path: '/readyz' })).status === 503);
      expect(await gateway.stop('SIGINT')).toMatchObject({ code: 1, signal: null });
      await until(() => !workers.some(isAlive));
    } finally {
      await gateway.stop('SIGKILL');
      await drop();
    }
  });
});

/** Forks two gateways with `node:cluster`, as PM2 does in its cluster mode. */
const MANAGER = `const cluster = require('node:cluster');
cluster.setupPrimary({ exec: process.argv[1], args: [], execArgv: [] });
const workers = [cluster.fork(), cluster.fork()];
cluster.on('exit', (worker, code, signal) => {
  process.exitCode ||= code ?? 1;
});
process.on('SIGTERM', () => workers.forEach((worker) => worker.process.kill('SIGTERM')));`;

onServers('a process manager that forks two gateways on an empty database', () => {
  test.each(['without', 'with'])('gets one port, one admin key and metrics, %s METRICS_PORT', async (has) => {
    const { url: database = '', drop } = await createDatabase();
    const { ADMIN_API_KEY: _, ...environment } = environmentOf(database, TEST_REDIS_URL);
    const [port, metricsPort] = [await freePort(), await freePort()];
    const more: Record<string, string> = has === 'with' ? { METRICS_PORT: String(metricsPort) } : {};
    const [node, main = ''] = command('main');
    const manager = new Program([node, '-e', MANAGER, main], { ...environment, ...more, PORT: String(port) });
    try {
      const reports = (): Record<string, unknown>[] => logOf(manager.stdout).filter(({ Explore }) => Explore);
      await until(() => reports().length === 2 || manager.isEnded, 60);
      expect(manager.stderr).toBe('');
      const url = `http://127.0.0.1:${port}`;
      expect(reports().map(({ Explore }) => Explore)).toEqual([url, url]);
      const keys = reports().flatMap((report) => report['Admin key'] ?? []);
      expect(keys).toEqual([expect.stringMatching(/^ps_/)]);

      const headers = { 'x-api-key': String(keys[0]), connection: 'close' };
      const asked = Array.from({ length: 8 }, () => ask(url, { path: '/pets', headers }));
      expect(outcomes(await Promise.all(asked))).toEqual({ 200: 8 });
      const metrics = has === 'with' ? { path: '/metrics' } : { path: '/metrics', headers };
      const { status, body } = await ask(has === 'with' ? `http://127.0.0.1:${metricsPort}` : url, metrics);
      expect([status, body]).toEqual([200, expect.stringContaining('petstore_limiter_store{state="redis"} 1')]);
      expect(await manager.stop('SIGTERM')).toMatchObject({ code: 0, signal: null, stderr: '' });
    } finally {
      await manager.stop('SIGKILL');
      await drop();
    }
  });
});
