import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ADMIN_KEY } from './helper/gateway';
import { socketClient, streamClient } from './helper/live';
import { ask, Load, outcomes } from './helper/load';
import { GatewayProcess, logOf, NPM_START } from './helper/process';
import { until } from './helper/until';

const directory = mkdtempSync(join(tmpdir(), 'petstore-'));
const environment = { DATA_DIR: join(directory, 'data'), ADMIN_API_KEY: ADMIN_KEY };
let running: GatewayProcess | undefined;
afterEach(async () => {
  await running?.stop('SIGKILL');
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const headers = { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' };

async function start(more: Record<string, string> = {}): Promise<GatewayProcess> {
  running = await GatewayProcess.start({ ...environment, ...more });
  return running;
}

/** Typical client requests: REST and GraphQL, reads and writes. */
function mixed(index: number) {
  if (index % 3 === 0)
    return { method: 'POST', path: '/categories', headers, body: JSON.stringify({ name: `Kind ${index}` }) };
  if (index % 3 === 1)
    return { method: 'POST', path: '/graphql', headers, body: '{"query":"{ categories { totalCount } }"}' };
  return { path: '/categories?limit=100', headers };
}

test.each(['0', '700'])(
  'SIGTERM under load drops no request and exits with 0, after readiness has been off for %s ms',
  async (delay) => {
    const gateway = await start({ SHUTDOWN_DELAY_MS: delay });
    const load = new Load(gateway.url, 12, mixed);
    await until(async () => load.tried.length > 100, 30);
    const before = load.tried.length;
    const signalled = performance.now();
    const ending = await gateway.stop('SIGTERM');
    expect(ending).toMatchObject({ code: 0, signal: null, stderr: '' });
    expect(performance.now() - signalled).toBeLessThan(8000);
    const tried = await load.stop();
    expect(tried.length).toBeGreaterThan(before);
    const seen = outcomes(tried);
    // A client that finds the port closed was never accepted; each sees that once, and then stops.
    expect(Object.keys(seen).filter((outcome) => !['200', '201', 'ECONNREFUSED'].includes(outcome))).toEqual(
      [],
    );
    const last = tried.filter(({ connection }) => connection === 'close');
    expect(last.length).toBeGreaterThan(0);

    // Every acknowledged write is there.
    const again = await start();
    const { body = '' } = await ask(again.url, {
      method: 'POST',
      path: '/graphql',
      headers,
      body: '{"query":"{ categories { totalCount } }"}',
    });
    const acknowledged = tried.filter(({ status }) => status === 201).length;
    expect(JSON.parse(body).data.categories.totalCount).toBeGreaterThanOrEqual(acknowledged);
    await again.stop();
  },
);

test('while draining, readiness is off and requests are served; an idle connection does not delay the exit', async () => {
  const gateway = await start({ SHUTDOWN_DELAY_MS: '1500' });
  const { hostname, port } = new URL(gateway.url);
  const idle = connect(Number(port), hostname);
  const { ended } = gateway;
  const stopped = gateway.stop('SIGTERM');
  await until(async () => (await ask(gateway.url, { path: '/readyz' })).status === 503);
  const answer = await ask(gateway.url, { path: '/categories', headers });
  expect(answer).toMatchObject({ status: 200 });
  expect((await ask(gateway.url, { path: '/livez' })).status).toBe(200);
  expect(await ended).toMatchObject({ code: 0 });
  await stopped;
  idle.destroy();
});

/** Begins a request and never finishes it. */
function unfinished(url: string) {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).on('error', () => undefined);
  socket.write(
    'POST /pets HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{',
  );
  return socket;
}

test('a second signal makes it exit at once, with 1', async () => {
  const gateway = await start();
  const socket = unfinished(gateway.url);
  await sleep(200);
  const started = performance.now();
  gateway.stop('SIGTERM');
  await sleep(300);
  expect(await gateway.stop('SIGINT')).toMatchObject({ code: 1, signal: null });
  expect(performance.now() - started).toBeLessThan(8000);
  socket.destroy();
});

test('`npm start` passes signals on to the gateway', async () => {
  const npm = { PATH: process.env.PATH ?? '', HOME: directory };
  const gateway = await GatewayProcess.start({ ...environment, ...npm }, NPM_START);
  expect(await gateway.stop('SIGTERM')).toMatchObject({ code: 0, signal: null });
  expect((await ask(gateway.url, { path: '/livez' })).error).toBe('ECONNREFUSED');
});

test('requests that take more than 10 seconds are not waited for', async () => {
  const gateway = await start({ REQUEST_TIMEOUT_MS: '60000' });
  const socket = unfinished(gateway.url);
  await sleep(200);
  const started = performance.now();
  expect(await gateway.stop('SIGTERM')).toMatchObject({ code: 0, signal: null });
  expect((performance.now() - started) / 1000).toBeGreaterThan(9);
  expect((performance.now() - started) / 1000).toBeLessThan(15);
  socket.destroy();
});

test('SIGTERM ends subscriptions so that their clients reconnect elsewhere, and is not delayed by them', async () => {
  const gateway = await start();
  const socket = socketClient(gateway.url, { apiKey: ADMIN_KEY }).subscribe(
    'subscription { petChanged { id } }',
  );
  const stream = streamClient(gateway.url, headers).subscribe('subscription { petChanged { id } }');
  const idle = socketClient(gateway.url, { apiKey: ADMIN_KEY });
  await idle.subscribe('{ __typename }').untilOver();
  // A client that never answers a close frame.
  const { hostname, port } = new URL(gateway.url);
  const silent = connect(Number(port), hostname).on('error', () => undefined);
  silent.write(
    'GET /graphql HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
  );
  await until(async () => {
    const { body = '' } = await ask(gateway.url, { path: '/metrics', headers });
    return body.includes('\npetstore_subscriptions 2\n');
  });
  const started = performance.now();
  expect(await gateway.stop('SIGTERM')).toMatchObject({ code: 0, signal: null, stderr: '' });
  expect(performance.now() - started).toBeLessThan(5000);
  expect((await socket.untilOver()).error).toMatchObject({ code: 1001 });
  // Without a final event: a client that saw one would not reconnect.
  expect((await stream.untilOver()).error).toBeInstanceOf(Error);
  expect(stream.isComplete).toBe(false);
  silent.destroy();
  idle.close();
});

test('the log names the caller and operation of each request, and no secret', async () => {
  const gateway = await start({ METRICS_PORT: '0' });
  const { url } = gateway;
  const wrong = `ps_000000000000_${'x'.repeat(32)}`;
  const query = `query ${'N'.repeat(300)} { pets { totalCount } }`;
  await ask(url, { method: 'POST', path: '/graphql', headers, body: JSON.stringify({ query }) });
  await ask(url, { path: '/pets/7', headers: { authorization: `Bearer ${ADMIN_KEY}` } });
  await ask(url, { path: `/pets?name=${ADMIN_KEY}`, headers: { 'x-request-id': 'mine-1' } });
  await ask(url, { path: '/pets', headers: { 'x-api-key': wrong } });
  const metricsUrl = /^ {2}Metrics +(\S+)\/metrics$/m.exec(gateway.stdout)?.[1] ?? '';
  const metrics = await ask(metricsUrl, { path: '/metrics' });
  expect(metrics.status).toBe(200);
  const { stdout, stderr } = await gateway.stop('SIGTERM');
  const log = logOf(stdout);
  for (const text of [log.join(), stderr, metrics.body ?? ''])
    for (const whole of [ADMIN_KEY, wrong]) {
      expect(text).not.toContain(whole);
      expect(text).not.toContain(whole.split('_')[2]);
    }
  const lines = log.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'request');
  const common = { level: 'info', ms: expect.any(Number), requestId: expect.any(String) };
  const caller = ADMIN_KEY.split('_')[1];
  expect(lines.slice(0, 4)).toEqual([
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
