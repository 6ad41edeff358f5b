import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GatewayProcess, logOf } from './helper/process';
import { until } from './helper/until';

const directory = mkdtempSync(join(tmpdir(), 'petstore-'));
const environment = { DATA_DIR: join(directory, 'data'), LOG_LEVEL: 'info' };
let running: GatewayProcess | undefined;
afterAll(async () => {
  await running?.stop('SIGKILL');
  rmSync(directory, { recursive: true, force: true });
});

const CREATE = 'mutation { createCategory(input: { name: "Dogs" }) { id } }';
const NAMES = '{ categories { nodes { name } } }';

/** Starts the process; it is stopped after the tests if still running. */
async function start(more: Record<string, string> = {}): Promise<GatewayProcess> {
  running = await GatewayProcess.start({ ...environment, ...more });
  return running;
}

let adminKey = '';

test('the first start prints where everything is, who may do what, and the admin key', async () => {
  const { stdout, stderr, url } = await start();
  expect(stderr).toBe('');
  const rows = Object.fromEntries(
    stdout
      .split('\n')
      .filter((line) => /^ {2}\S+( \S+)? {2,}/.test(line))
      .map((line) => line.trim().split(/ {2,}/))
      .map(([name, value]) => [name, value]),
  );
  expect(rows).toEqual({
    Explore: url,
    GraphQL: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/graphql$/),
    REST: `${url}/pets`,
    Docs: `${url}/docs`,
    Data: `embedded PostgreSQL 17 in ${environment.DATA_DIR}`,
    Access: 'without a key: read and write',
    'Admin key': expect.stringMatching(/^ps_[0-9a-z]{12}_[0-9A-Za-z]{32}$/),
  });
  adminKey = rows['Admin key'] ?? '';
});

test('the first write works without a key, and the printed key is an admin key', async () => {
  expect(await running?.graphql(CREATE)).toMatchObject({ data: { createCategory: { id: '1' } } });
  const answer = await running?.graphql('{ apiKeys { totalCount } }', { 'x-api-key': adminKey });
  expect(answer).toMatchObject({ data: { apiKeys: { totalCount: 1 } } });
});

test('a second process on the same directory is refused in one line that names the directory and its owner', async () => {
  const second = new GatewayProcess({ ...environment, PORT: '0' });
  const { code, stdout, stderr } = await second.ended;
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toBe(
    `petstore-gateway: ${environment.DATA_DIR} is in use by process ${running?.pid}. Stop it, or set DATA_DIR to another directory.\n`,
  );
  expect(await running?.graphql('{ categories { totalCount } }')).toMatchObject({
    data: { categories: { totalCount: 1 } },
  });
});

test.each(['SIGTERM', 'SIGINT'] as const)(
  '%s ends it with 0; the data is there after the next start, which prints no key',
  async (signal) => {
    expect(await running?.stop(signal)).toMatchObject({ code: 0, signal: null, stderr: '' });
    const restarted = await start();
    expect(restarted.stdout).not.toContain('Admin key');
    expect(await restarted.graphql(NAMES)).toMatchObject({
      data: { categories: { nodes: [{ name: 'Dogs' }] } },
    });
  },
);

test('a port in use, or an unknown host, is reported in one line', async () => {
  // A copy of an existing directory, since creating one takes seconds.
  await running?.stop();
  cpSync(environment.DATA_DIR, join(directory, 'other'), { recursive: true });
  const { port } = new URL((await start()).url);
  const other = { DATA_DIR: join(directory, 'other'), LOG_LEVEL: 'silent' };
  for (const [wrong, reason] of [
    [{ PORT: port }, `listen EADDRINUSE: address already in use 127.0.0.1:${port}`],
    [{ HOST: 'not..a.host' }, 'getaddrinfo ENOTFOUND not..a.host'],
  ] as const) {
    const { code, stderr } = await new GatewayProcess({ ...other, ...wrong }).ended;
    expect([code, stderr]).toEqual([1, `petstore-gateway: cannot listen on HOST and PORT: ${reason}\n`]);
  }
});

test('an acknowledged write survives SIGKILL', async () => {
  for (const name of ['Cats', 'Birds']) {
    expect(await running?.graphql(CREATE.replace('Dogs', name))).not.toHaveProperty('errors');
    expect(await running?.stop('SIGKILL')).toMatchObject({ code: null, signal: 'SIGKILL' });
    await start();
  }
  expect(await running?.graphql(NAMES)).toMatchObject({
    data: { categories: { nodes: [{ name: 'Dogs' }, { name: 'Cats' }, { name: 'Birds' }] } },
  });
});

test('a request in progress at SIGTERM is answered, and its connection is then closed', async () => {
  const { hostname, port } = new URL(String(running?.url));
  const socket = connect(Number(port), hostname).setEncoding('utf8');
  let received = '';
  socket.on('data', (text) => {
    received += text;
  });
  const body = JSON.stringify({ query: NAMES });
  const head = [
    'Host: x',
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    'Expect: 100-continue',
  ];
  socket.write(`POST /graphql HTTP/1.1\r\n${head.join('\r\n')}\r\n\r\n`);
  await until(async () => received.startsWith('HTTP/1.1 100'));

  const ended = running?.stop();
  await until(async () => !(await isListening(hostname, Number(port))));
  socket.write(body);
  const before = Date.now();
  expect(await ended).toMatchObject({ code: 0 });
  expect(Date.now() - before).toBeLessThan(10_000);
  const [, , answer] = received.split('HTTP/1.1 ');
  expect(answer).toMatch(/^200 OK\r\n.*\r\nconnection: close\r\n.*"Birds"/s);
  expect(answer).toContain('x-ratelimit-remaining');
});

test('the log is JSON lines', async () => {
  const { stdout } = await (running?.ended ?? Promise.reject(new Error('nothing ran')));
  const lines = logOf(stdout).map((line) => JSON.parse(line));
  expect(lines).toContainEqual(
    expect.objectContaining({
      level: 'info',
      method: 'POST',
      path: '/graphql',
      status: 200,
      requestId: expect.any(String),
    }),
  );
  const [stopping, ...rest] = lines.slice(lines.findIndex(({ msg }) => msg.startsWith('stopping')));
  expect(stopping).toMatchObject({ level: 'info', delayMs: 0 });
  expect(rest.at(-1)).toMatchObject({ level: 'info', msg: 'stopped', unfinished: 0 });
});

test('if the configured Redis is unreachable it counts alone, and logs that', async () => {
  const alone = await start({ REDIS_URL: 'redis://user:hunter2@127.0.0.1:2' });
  const response = await fetch(`${alone.url}/categories`);
  expect(response.status).toBe(200);
  expect(Number(response.headers.get('x-ratelimit-remaining'))).toBeGreaterThan(0);
  const { stdout } = await alone.stop();
  const warnings = stdout.split('\n').filter((line) => line.startsWith('{"level":"warn"'));
  expect(warnings.map((line) => JSON.parse(line))).toEqual([
    expect.objectContaining({ events: 'alone' }),
    expect.objectContaining({
      limits: 'fallback',
      redis: '127.0.0.1:2',
      reason: 'connect ECONNREFUSED 127.0.0.1:2',
    }),
  ]);
  expect(stdout).not.toContain('hunter2');
});

async function isListening(host: string, port: number): Promise<boolean> {
  const socket = connect(port, host);
  const isOpen = await Promise.race([
    once(socket, 'connect').then(() => true),
    once(socket, 'error').then(() => false),
  ]).catch(() => false);
  socket.destroy();
  return isOpen;
}
