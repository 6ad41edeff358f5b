import { Agent } from 'node:http';
import { connect, type Socket } from 'node:net';
import { PROJECT } from '../helper/command';
import { ADMIN_KEY } from '../helper/gateway';
import { Installation } from '../helper/installation';
import { type Received, socketClient, streamClient } from '../helper/live';
import { ask, Load } from '../helper/load';
import { GatewayProcess, logOf } from '../helper/process';
import { createProduction, TEST_DATABASE_URL, TEST_REDIS_URL } from '../helper/production';
import { HEADERS, isServed, madeCategories, mixed } from '../helper/traffic';
import { until } from '../helper/until';

const environment = { ADMIN_API_KEY: ADMIN_KEY, METRICS_PORT: '0' };
const installation = new Installation(environment);
afterAll(() => installation.remove());

/** Opens a connection and sends the head of a request. */
function send(url: string, ...head: string[]): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect({ port: Number(port), host: hostname, noDelay: true }).setEncoding('latin1');
  socket.on('error', () => undefined);
  if (head.length) socket.write(`${head.join('\r\n')}\r\nHost: localhost\r\n\r\n`);
  return socket;
}

/** Sends the head of a request, and waits until the server expects the body. `received` returns the data received so far. */
async function sendHead(url: string, length: number): Promise<{ socket: Socket; received: () => string }> {
  const type = 'Content-Type: application/json';
  const socket = send(url, 'POST /graphql HTTP/1.1', type, `Content-Length: ${length}`, 'Expect: 100-continue');
  let received = '';
  socket.on('data', (text) => {
    received += text;
  });
  await until(() => received.startsWith('HTTP/1.1 100'));
  return { socket, received: () => received };
}

const isListening = async (url: string) => (await ask(url, { path: '/livez' })).error !== 'ECONNREFUSED';

test.each([0, 700])(
  'SIGTERM under load, with a delay of %i ms, loses no request and no acknowledged write',
  async (delay) => {
    const gateway = await installation.start({ SHUTDOWN_DELAY_MS: String(delay) });
    const load = new Load(gateway.url, 12, mixed);
    await until(() => load.tried.length > 100, 30);
    const before = load.tried.length;
    const signalled = performance.now();
    expect(await gateway.stop('SIGTERM')).toMatchObject({ code: 0, signal: null, stderr: '' });
    const took = performance.now() - signalled;
    expect(took).toBeGreaterThan(delay);
    expect(took).toBeLessThan(8000);
    const tried = await load.stop();
    expect(tried.length).toBeGreaterThan(before);
    // Each client stops at its first refused connection, so ECONNREFUSED is expected.
    expect(tried.filter((one) => !isServed(one) && one.error !== 'ECONNREFUSED')).toEqual([]);
    expect(tried.filter(({ connection }) => connection === 'close')).not.toEqual([]);

    const acknowledged = madeCategories(tried);
    expect(acknowledged.length).toBeGreaterThan(10);
    const { url } = await installation.start();
    // One caller may have 250 requests in progress.
    const agent = new Agent({ keepAlive: true, maxSockets: 12 });
    const kept = acknowledged.map((id) => ask(url, { path: `/categories/${id}`, headers: HEADERS }, agent));
    expect((await Promise.all(kept)).filter((one) => !isServed(one))).toEqual([]);
    agent.destroy();
  },
);

const CONNECTIONS = 100;
/** How often each test is repeated. In each run, the connections and the signal may arrive in a different order. */
const BURSTS = 3;

describe('requests on 100 connections opened just before SIGTERM are all answered', () => {
  async function expectAnswers(gateway: GatewayProcess): Promise<void> {
    const answers = Array.from({ length: CONNECTIONS }, async (_, index) => {
      const path = index % 2 ? '/categories' : '/livez';
      const socket = send(gateway.url, `GET ${path} HTTP/1.1`, `X-API-Key: ${ADMIN_KEY}`, 'Connection: close');
      let received = '';
      for await (const text of socket) received += text;
      return received.split('\r\n', 1)[0];
    });
    expect(await gateway.stop('SIGTERM')).toMatchObject({ code: 0, stderr: '' });
    expect(await Promise.all(answers)).toEqual(Array(CONNECTIONS).fill('HTTP/1.1 200 OK'));
  }

  test('by one process', async () => {
    for (let burst = 0; burst < BURSTS; burst++) await expectAnswers(await installation.start());
  });

  const onServers = TEST_DATABASE_URL && TEST_REDIS_URL ? test : test.skip;
  onServers('by several workers', async () => {
    const { environment: shared, drop } = await createProduction();
    for (let burst = 0; burst < BURSTS; burst++)
      await expectAnswers(await GatewayProcess.start({ ...shared, WEB_CONCURRENCY: '2' }));
    await drop();
  });
});

test('a request in progress at SIGTERM is answered, and its connection is then closed', async () => {
  const gateway = await installation.running();
  const body = JSON.stringify({ query: '{ categories { totalCount } }' });
  const { socket, received } = await sendHead(gateway.url, body.length);
  const ended = gateway.stop();
  await until(async () => !(await isListening(gateway.url)));
  socket.write(body);
  const { code, stdout } = await ended;
  expect(code).toBe(0);
  const [, , answer] = received().split('HTTP/1.1 ');
  expect(answer).toMatch(/^200 OK\r\n.*\r\nconnection: close\r\n.*{"categories":{"totalCount":\d+}}/s);
  expect(answer).toContain('x-ratelimit-remaining');

  const lines = logOf(stdout);
  const [stopping, ...rest] = lines.slice(lines.findIndex(({ msg }) => String(msg).startsWith('stopping')));
  expect(stopping).toMatchObject({ level: 'info', delayMs: 500 });
  expect(rest).toContainEqual(expect.objectContaining({ method: 'POST', path: '/graphql', status: 200 }));
  expect(rest.at(-1)).toMatchObject({ level: 'info', msg: 'stopped', unfinished: 0 });
});

test('SIGHUP, which the end of a terminal or SSH session sends, stops the process as SIGTERM does', async () => {
  const gateway = await installation.start();
  await ask(gateway.url, { path: '/pets' });
  const { code, signal, stdout } = await gateway.stop('SIGHUP');
  expect([code, signal, logOf(stdout).at(-1)]).toEqual([0, null, expect.objectContaining({ msg: 'stopped' })]);
});

test('a request that is still in progress 10 seconds after SIGTERM is dropped', async () => {
  const gateway = await installation.start({ REQUEST_TIMEOUT_MS: '60000' });
  const { socket } = await sendHead(gateway.url, 100);
  const started = performance.now();
  expect(await gateway.stop('SIGTERM')).toMatchObject({ code: 0, signal: null });
  const seconds = (performance.now() - started) / 1000;
  expect(seconds).toBeGreaterThan(9);
  expect(seconds).toBeLessThan(15);
  socket.destroy();
});

test('a second signal ends the process at once, with exit code 1', async () => {
  const gateway = await installation.running();
  const { socket } = await sendHead(gateway.url, 100);
  const started = performance.now();
  void gateway.stop('SIGTERM');
  await until(async () => !(await isListening(gateway.url)));
  expect(await gateway.stop('SIGINT')).toMatchObject({ code: 1, signal: null });
  expect(performance.now() - started).toBeLessThan(8000);
  socket.destroy();
});

test('`npm start` forwards signals to the gateway', async () => {
  const shell = { PATH: process.env.PATH ?? '', HOME: installation.directory };
  const gateway = await GatewayProcess.start({ DATA_DIR: installation.data, ...shell }, [
    'npm',
    '--prefix',
    PROJECT,
    'start',
  ]);
  expect(await gateway.stop('SIGTERM')).toMatchObject({ code: 0, signal: null });
  expect(await isListening(gateway.url)).toBe(false);
});

describe('with a Redis that cannot be reached', () => {
  const PASSWORD = 'hunter2';
  const REDIS_URL = `redis://user:${PASSWORD}@127.0.0.1:2`;
  const alone = new Installation({ ...environment, REDIS_URL, SHUTDOWN_DELAY_MS: '700' });
  afterAll(() => alone.remove());

  test('the gateway serves requests, counts quotas in memory, and logs a warning', async () => {
    const gateway = await alone.running();
    const response = await fetch(`${gateway.url}/categories`);
    expect(response.status).toBe(200);
    expect(gateway.report.Limits).toBe('in memory, while Redis at 127.0.0.1:2 cannot be reached');
    expect(Number(response.headers.get('x-ratelimit-remaining'))).toBeGreaterThan(0);
    const warnings = () => logOf(gateway.stdout).filter(({ level }) => level === 'warn');
    await until(() => warnings().length > 1);
    const reason = 'connect ECONNREFUSED 127.0.0.1:2';
    expect(warnings()).toMatchObject([{ limits: 'fallback', redis: '127.0.0.1:2', reason }, { events: 'alone' }]);
  });

  test('after SIGTERM, /readyz fails, requests succeed during the delay, and subscriptions end so that clients reconnect', async () => {
    const gateway = await alone.running();
    const { url } = gateway;
    const subscription = 'subscription { petChanged { petId } }';
    const socket = socketClient(url, { apiKey: ADMIN_KEY }).subscribe(subscription);
    const stream = streamClient(url, HEADERS).subscribe(subscription);
    const idle = socketClient(url, { apiKey: ADMIN_KEY });
    await idle.subscribe('{ __typename }').untilOver();
    const neverUsed = send(url);
    // This WebSocket client never answers a close frame.
    const upgrade = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'];
    const silent = send(url, 'GET /graphql HTTP/1.1', ...upgrade, 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==');
    await until(async () => (await gateway.metrics()).includes('\npetstore_subscriptions 2\n'));

    const started = performance.now();
    const ended = gateway.stop('SIGTERM');
    await until(async () => (await ask(url, { path: '/readyz' })).status === 503);
    const asked = ['/categories', '/livez'].map((path) => ask(url, { path, headers: HEADERS }));
    expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([200, 200]);
    expect(socket.error).toBeUndefined();

    const { stdout, ...ending } = await ended;
    expect(ending).toEqual({ code: 0, signal: null, stderr: '' });
    expect(performance.now() - started).toBeLessThan(5000);
    expect(await errorOf(socket)).toMatchObject({ code: 1001 });
    // The stream must not end with a `complete` event, after which a client would not reconnect.
    expect(await errorOf(stream)).toBeInstanceOf(Error);
    expect(stream.isComplete).toBe(false);
    expect(stdout).not.toContain(PASSWORD);
    neverUsed.destroy();
    silent.destroy();
    idle.close();
  });
});

async function errorOf(subscriber: Received): Promise<unknown> {
  return (await subscriber.untilOver()).error;
}
