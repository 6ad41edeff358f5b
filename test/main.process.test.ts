import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { Installation } from './helper/installation';
import { copyData } from './helper/prepared';
import { GatewayProcess, logOf } from './helper/process';
import { until } from './helper/until';

const installation = new Installation({ LOG_LEVEL: 'info' });
/** On its database without any key, whatever has been started since. */
let first: GatewayProcess;
beforeAll(async () => {
  first = await installation.start();
});
afterAll(() => installation.remove());

/** Creates a category without a key. @returns its id. */
async function createCategory(gateway: GatewayProcess): Promise<string> {
  const create = 'mutation { createCategory(input: { name: "Dogs" }) { id } }';
  const { data } = await gateway.graphql<{ data: { createCategory: { id: string } } }>(create);
  return data.createCategory.id;
}

/** Whether there is a category of this id. */
async function hasCategory(gateway: GatewayProcess, id: string): Promise<boolean> {
  const query = `{ category(id: ${id}) { name } }`;
  const { data } = await gateway.graphql<{ data: { category: { name: string } | null } }>(query);
  return data.category?.name === 'Dogs';
}

test('the first start logs where everything is, who may do what, and the admin key, in one line', () => {
  const { url, stderr, stdout, report } = first;
  expect(stderr).toBe('');
  expect(stdout.match(/Admin key/g)).toHaveLength(1);
  expect(report).toEqual({
    level: 'info',
    time: expect.any(Number),
    pid: first.pid,
    hostname: expect.any(String),
    msg: `Petstore Gateway 1.0.0 serves at ${url}`,
    Explore: url,
    GraphQL: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/graphql$/),
    REST: `${url}/pets`,
    Docs: `${url}/docs`,
    Data: `embedded PostgreSQL 17 in ${installation.data}`,
    Limits: 'in memory',
    Access: 'without a key: read and write',
    'Admin key': expect.stringMatching(/^ps_[0-9a-z]{12}_[0-9A-Za-z]{32}$/),
  });
});

test('the first write works without a key, and the printed key is an admin key', async () => {
  const gateway = await installation.running();
  expect(await createCategory(gateway)).toMatch(/^\d+$/);
  const headers = { 'x-api-key': String(first.report['Admin key']) };
  const answer = await gateway.graphql('{ apiKeys { totalCount } }', headers);
  expect(answer).toMatchObject({ data: { apiKeys: { totalCount: 1 } } });
});

test('a second process on the same directory is refused in one line that names the directory and its owner', async () => {
  const gateway = await installation.running();
  const id = await createCategory(gateway);
  const second = new GatewayProcess({ DATA_DIR: installation.data, PORT: '0' });
  const { code, stdout, stderr } = await second.ended;
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toBe(
    `petstore-gateway: ${installation.data} is in use by process ${gateway.pid}. Stop it, or set DATA_DIR to another directory. If it is a copy of the directory that this process uses, it may be damaged: stop the process before copying.\n`,
  );
  expect(await hasCategory(gateway, id)).toBe(true);
});

test('a port in use is reported in one line, and the admin key is for the first start that serves', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo;
  const data = join(installation.directory, 'other');
  copyData(data);
  const environment = { DATA_DIR: data, LOG_LEVEL: 'silent' };
  const { code, stdout, stderr } = await new GatewayProcess({ ...environment, PORT: String(port) }).ended;
  taken.close();
  expect([code, stdout, stderr]).toEqual([
    1,
    '',
    `petstore-gateway: port ${port} is taken by another process. Stop that, or choose another port: PORT=${port + 1} npm start\n`,
  ]);
  const next = await GatewayProcess.start(environment);
  expect(next.report).toHaveProperty('Admin key');
  await next.stop('SIGKILL');
});

// lifecycle.process.test.ts has the same for SIGTERM.
test('SIGINT ends it with 0; the data is there after the next start, which prints no key', async () => {
  const gateway = await installation.running();
  const id = await createCategory(gateway);
  expect(await gateway.stop('SIGINT')).toMatchObject({ code: 0, signal: null, stderr: '' });
  const next = await installation.running();
  expect(next.report).not.toHaveProperty('Admin key');
  expect(await hasCategory(next, id)).toBe(true);
});

test('an acknowledged write survives SIGKILL', async () => {
  const gateway = await installation.running();
  const id = await createCategory(gateway);
  expect(await gateway.stop('SIGKILL')).toMatchObject({ code: null, signal: 'SIGKILL' });
  expect(await hasCategory(await installation.running(), id)).toBe(true);
});

test('a request in progress at SIGTERM is answered, and its connection is then closed; the log is JSON lines', async () => {
  const gateway = await installation.running();
  const { hostname, port } = new URL(gateway.url);
  const socket = connect(Number(port), hostname).setEncoding('utf8');
  let received = '';
  socket.on('data', (text) => {
    received += text;
  });
  const body = JSON.stringify({ query: '{ categories { totalCount } }' });
  const head = [
    'Host: localhost',
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    'Expect: 100-continue',
  ];
  socket.write(`POST /graphql HTTP/1.1\r\n${head.join('\r\n')}\r\n\r\n`);
  await until(async () => received.startsWith('HTTP/1.1 100'));

  const ended = gateway.stop();
  await until(async () => !(await isListening(hostname, Number(port))));
  socket.write(body);
  const before = Date.now();
  const { code, stdout } = await ended;
  expect(code).toBe(0);
  expect(Date.now() - before).toBeLessThan(10_000);
  const [, , answer] = received.split('HTTP/1.1 ');
  expect(answer).toMatch(/^200 OK\r\n.*\r\nconnection: close\r\n.*{"categories":{"totalCount":\d+}}/s);
  expect(answer).toContain('x-ratelimit-remaining');

  const lines = logOf(stdout);
  expect(lines).toContainEqual(
    expect.objectContaining({
      level: 'info',
      method: 'POST',
      path: '/graphql',
      status: 200,
      requestId: expect.any(String),
    }),
  );
  const [stopping, ...rest] = lines.slice(lines.findIndex(({ msg }) => String(msg).startsWith('stopping')));
  expect(stopping).toMatchObject({ level: 'info', delayMs: 500 });
  expect(rest.at(-1)).toMatchObject({ level: 'info', msg: 'stopped', unfinished: 0 });
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
