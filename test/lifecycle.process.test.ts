import { connect, type Socket } from 'node:net';
import { ADMIN_KEY } from './helper/gateway';
import { Installation } from './helper/installation';
import { socketClient, streamClient } from './helper/live';
import { ask } from './helper/load';
import { type GatewayProcess, logOf } from './helper/process';
import { expectNoLossAt } from './helper/shutdown';
import { HEADERS } from './helper/traffic';
import { unfinished } from './helper/unfinished';
import { until } from './helper/until';

const environment = {
  ADMIN_API_KEY: ADMIN_KEY,
  METRICS_PORT: '0',
  // Other load on the machine must not count as overload.
  MAX_EVENT_LOOP_LAG_MS: '60000',
};
const installation = new Installation(environment);
afterAll(() => installation.remove());

test('SIGTERM under load drops no request and exits with 0; every acknowledged write is there after the next start', () =>
  expectNoLossAt(0, installation));

test('the log names the caller and operation of each request, and no secret', async () => {
  const gateway = await installation.running();
  const { url } = gateway;
  const wrong = `ps_000000000000_${'x'.repeat(32)}`;
  const query = `query ${'N'.repeat(300)} { pets { totalCount } }`;
  // Others may have used this process before.
  await ask(url, { path: '/pets', headers: { 'x-request-id': 'before' } });
  await ask(url, { method: 'POST', path: '/graphql', headers: HEADERS, body: JSON.stringify({ query }) });
  await ask(url, { path: '/pets/7', headers: { authorization: `Bearer ${ADMIN_KEY}` } });
  await ask(url, { path: `/pets?name=${ADMIN_KEY}`, headers: { 'x-request-id': 'mine-1' } });
  await ask(url, { path: '/pets', headers: { 'x-api-key': wrong } });
  const metrics = await ask(metricsOf(gateway), { path: '/metrics' });
  expect(metrics.status).toBe(200);

  const requests = () => {
    const lines = logOf(gateway.stdout);
    const before = lines.findIndex(({ requestId }) => requestId === 'before');
    return lines.slice(before + 1).filter(({ msg }) => msg === 'request');
  };
  await until(async () => gateway.stdout.endsWith('\n') && requests().length === 4);
  for (const text of [gateway.stdout, gateway.stderr, metrics.body ?? ''])
    for (const whole of [ADMIN_KEY, wrong]) {
      expect(text).not.toContain(whole);
      expect(text).not.toContain(whole.split('_')[2]);
    }
  const common = { level: 'info', ms: expect.any(Number), requestId: expect.any(String) };
  const caller = ADMIN_KEY.split('_')[1];
  expect(requests()).toEqual([
    expect.objectContaining({
      ...common,
      method: 'POST',
      path: '/graphql',
      caller,
      operation: 'query pets',
      operationName: 'N'.repeat(100),
      status: 200,
    }),
    expect.objectContaining({ ...common, path: '/pets/7', caller, operation: 'getPet', status: 404 }),
    expect.objectContaining({ caller: '127.0.0.1', operation: 'listPets', status: 200, requestId: 'mine-1' }),
    expect.objectContaining({ caller: '127.0.0.1', operation: 'listPets', status: 401 }),
  ]);
});

test('a second signal makes it exit at once, with 1', async () => {
  const gateway = await installation.running();
  const socket = await unfinished(gateway.url);
  const started = performance.now();
  void gateway.stop('SIGTERM');
  await until(async () => (await ask(gateway.url, { path: '/livez' })).error === 'ECONNREFUSED');
  expect(await gateway.stop('SIGINT')).toMatchObject({ code: 1, signal: null });
  expect(performance.now() - started).toBeLessThan(8000);
  socket.destroy();
});

describe('without the Redis that it is configured with', () => {
  const PASSWORD = 'hunter2';
  let alone: Installation;
  beforeAll(() => {
    alone = new Installation({
      ...environment,
      REDIS_URL: `redis://user:${PASSWORD}@127.0.0.1:2`,
      SHUTDOWN_DELAY_MS: '700',
    });
  });
  afterAll(() => alone.remove());

  test('it serves, counts alone, and logs that', async () => {
    const gateway = await alone.running();
    const response = await fetch(`${gateway.url}/categories`);
    expect(response.status).toBe(200);
    expect(gateway.report.Limits).toBe('in memory, while Redis at 127.0.0.1:2 cannot be reached');
    expect(Number(response.headers.get('x-ratelimit-remaining'))).toBeGreaterThan(0);
    const warnings = () => logOf(gateway.stdout).filter(({ level }) => level === 'warn');
    await until(async () => gateway.stdout.endsWith('\n') && warnings().length > 1);
    expect(warnings()).toEqual([
      expect.objectContaining({
        limits: 'fallback',
        redis: '127.0.0.1:2',
        reason: 'connect ECONNREFUSED 127.0.0.1:2',
      }),
      expect.objectContaining({ events: 'alone' }),
    ]);
  });

  test('SIGTERM: first readiness is off and requests are served; then subscriptions end so that their clients reconnect elsewhere; neither they nor idle connections delay the exit; no password is logged', async () => {
    const gateway = await alone.running();
    const subscription = 'subscription { petChanged { petId } }';
    const socket = socketClient(gateway.url, { apiKey: ADMIN_KEY }).subscribe(subscription);
    const stream = streamClient(gateway.url, HEADERS).subscribe(subscription);
    const idle = socketClient(gateway.url, { apiKey: ADMIN_KEY });
    await idle.subscribe('{ __typename }').untilOver();
    const neverUsed = open(gateway.url);
    const silent = upgrading(gateway.url);
    await until(async () => {
      const { body = '' } = await ask(metricsOf(gateway), { path: '/metrics' });
      return body.includes('\npetstore_subscriptions 2\n');
    });

    const started = performance.now();
    const ended = gateway.stop('SIGTERM');
    await until(async () => (await ask(gateway.url, { path: '/readyz' })).status === 503);
    const asked = ['/categories', '/livez'].map((path) => ask(gateway.url, { path, headers: HEADERS }));
    expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([200, 200]);
    expect(socket.error).toBeUndefined();

    const { stdout, ...ending } = await ended;
    expect(ending).toEqual({ code: 0, signal: null, stderr: '' });
    expect(performance.now() - started).toBeLessThan(5000);
    expect((await socket.untilOver()).error).toMatchObject({ code: 1001 });
    // Without a final event: a client that saw one would not reconnect.
    expect((await stream.untilOver()).error).toBeInstanceOf(Error);
    expect(stream.isComplete).toBe(false);
    expect(stdout).not.toContain(PASSWORD);
    neverUsed.destroy();
    silent.destroy();
    idle.close();
  });
});

/** The URL of its metrics. */
function metricsOf({ report }: GatewayProcess): string {
  return String(report.Metrics).replace(/\/metrics$/, '');
}

function open(url: string): Socket {
  const { hostname, port } = new URL(url);
  return connect(Number(port), hostname).on('error', () => undefined);
}

/** A WebSocket client that never answers a close frame. */
function upgrading(url: string): Socket {
  const head = [
    'GET /graphql HTTP/1.1',
    'Host: localhost',
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  ];
  const socket = open(url);
  socket.write(`${head.join('\r\n')}\r\n\r\n`);
  return socket;
}
