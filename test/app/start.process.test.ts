import { once } from 'node:events';
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { command } from '../helper/command';
import { ADMIN_KEY } from '../helper/gateway';
import { Installation } from '../helper/installation';
import { ask } from '../helper/load';
import { copyData } from '../helper/prepared';
import { GatewayProcess, inShell, logOf, MAIN, Program, quick } from '../helper/process';
import { HEADERS } from '../helper/traffic';
import { until } from '../helper/until';

const installation = new Installation({ LOG_LEVEL: 'info' });
/** The process that started first, on an empty database. Later tests also read its output. */
let first: GatewayProcess;
beforeAll(async () => {
  first = await installation.start();
});
afterAll(() => installation.remove());

/** Creates a category with the admin key that the first start printed. @returns its id. */
async function createCategory(gateway: GatewayProcess, { report } = first): Promise<string> {
  const create = 'mutation { createCategory(input: { name: "Dogs" }) { id } }';
  const headers = { 'x-api-key': String(report['Admin key']) };
  const { data } = await gateway.graphql<{ data: { createCategory: { id: string } } }>(create, headers);
  return data.createCategory.id;
}

async function hasCategory(gateway: GatewayProcess, id: string): Promise<boolean> {
  const query = `{ category(id: ${id}) { name } }`;
  const { data } = await gateway.graphql<{ data: { category: { name: string } | null } }>(query);
  return data.category?.name === 'Dogs';
}

/** Starts a process that must fail to start. @returns its one-line error, without the name of the program. */
async function failedStart(environment: Record<string, string>): Promise<string> {
  const { code, stdout, stderr } = await new GatewayProcess({ PORT: '0', ...environment }).ended;
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(/^petstore-gateway: [^\n]+\n$/);
  return stderr.slice('petstore-gateway: '.length, -1);
}

test('the first start logs one line with the URLs, the access of anonymous callers, and how to use the admin key', () => {
  const { url, stderr, stdout, report } = first;
  const key = report['Admin key'];
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
    Data: `embedded PostgreSQL 18 in ${installation.data}`,
    Limits: 'in memory',
    'Anonymous access': 'read',
    'Admin key': expect.stringMatching(/^ps_[0-9a-z]{12}_[0-9A-Za-z]{32}$/),
    'Pages with key': `${url}/#key=${key}`,
    'First write': `curl -s ${url}/categories -H 'X-API-Key: ${key}' -H 'Content-Type: application/json' -d '{"name":"Dogs"}'`,
  });
});

test('the printed command makes the first write, and the printed key is an admin key', async () => {
  const gateway = await installation.running();
  expect(await inShell(first.report['First write'])).toEqual({ id: 1, name: 'Dogs' });
  const headers = { 'x-api-key': String(first.report['Admin key']) };
  const answer = await gateway.graphql('{ apiKeys { totalCount } }', headers);
  expect(answer).toMatchObject({ data: { apiKeys: { totalCount: 1 } } });
});

test('a write without a key is rejected, although it comes from this machine', async () => {
  const gateway = await installation.running();
  const answer = await gateway.graphql('mutation { createCategory(input: { name: "Dogs" }) { id } }');
  expect(answer).toMatchObject({ errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] });
});

test('a first start with ADMIN_API_KEY prints the command for the first write, but not the key', async () => {
  const given = new Installation({ LOG_LEVEL: 'info', ADMIN_API_KEY: ADMIN_KEY });
  try {
    const { report, stdout } = await given.start();
    expect(report).not.toHaveProperty('Admin key');
    expect(report).not.toHaveProperty('Pages with key');
    expect(report['First write']).toContain('-H "X-API-Key: $ADMIN_API_KEY"');
    expect(stdout).not.toContain(ADMIN_KEY.split('_')[2]);
    expect(await inShell(report['First write'], { ADMIN_API_KEY: ADMIN_KEY })).toEqual({ id: 1, name: 'Dogs' });
    expect((await given.start()).report).not.toHaveProperty('First write');
  } finally {
    await given.remove();
  }
});

test('a second process with the same data directory fails with a one-line error that contains the pid of the first process', async () => {
  const gateway = await installation.running();
  const id = await createCategory(gateway);
  expect(await failedStart({ DATA_DIR: installation.data })).toBe(
    `${installation.data} is in use by process ${gateway.pid}. Stop it, or set DATA_DIR to another directory.`,
  );
  expect(await hasCategory(gateway, id)).toBe(true);
});

test('SIGINT ends the process with exit code 0, and the next start has the data and prints no key', async () => {
  const gateway = await installation.running();
  const id = await createCategory(gateway);
  expect(await gateway.stop('SIGINT')).toMatchObject({ code: 0, signal: null, stderr: '' });
  const next = await installation.running();
  for (const name of ['Admin key', 'Pages with key', 'First write']) expect(next.report).not.toHaveProperty(name);
  expect(await hasCategory(next, id)).toBe(true);
});

test('a failed start creates no admin key; the first successful start creates and prints it', async () => {
  const DATA_DIR = join(installation.directory, 'other');
  copyData(DATA_DIR);
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo;
  expect(await failedStart({ DATA_DIR, PORT: String(port) })).toBe(
    `port ${port} is taken by another process. Stop that process, or choose another port: PORT=${port + 1} npm start`,
  );
  taken.close();
  expect(await failedStart({ DATA_DIR, TRUSTED_DOCUMENTS: '/nowhere.json' })).toMatch(
    /^TRUSTED_DOCUMENTS .*nowhere\.json: ENOENT/,
  );
  expect(await failedStart({ DATA_DIR, HOST: 'not..a.host' })).toBe(
    'cannot listen on HOST and PORT: getaddrinfo ENOTFOUND not..a.host',
  );
  const next = await GatewayProcess.start({ DATA_DIR });
  expect(next.report).toHaveProperty('Admin key');
  await next.stop('SIGKILL');
});

test('if the data directory has no database, the start creates a database and an admin key, even after an interrupted start', async () => {
  const DATA_DIR = join(installation.directory, 'new');
  mkdirSync(join(DATA_DIR, 'postgres.unfinished'), { recursive: true });
  writeFileSync(join(DATA_DIR, 'postgres.unfinished', 'PG_VERSION'), '17\n');
  const gateway = await GatewayProcess.start({ DATA_DIR });
  expect(gateway.report).toHaveProperty('Admin key');
  expect(await createCategory(gateway, gateway)).toBe('1');
  expect(statSync(join(DATA_DIR, 'postgres')).mode & 0o777).toBe(0o700);
  await gateway.stop('SIGKILL');
});

test.each([
  ['PORT', 'http', /^PORT/],
  ['DATA_DIR', '/dev/null/data', /DATA_DIR/],
  ['DATABASE_URL', 'postgresql://localhost:1/petstore', /ECONNREFUSED/],
])('with %s=%s, the start fails with a one-line error', async (name, value, line) => {
  expect(await failedStart({ DATA_DIR: '/dev/null/data', [name]: value })).toMatch(line);
});

test.each([
  ['the gateway', MAIN, {}],
  ['the gateway with a database server', MAIN, { DATABASE_URL: 'postgresql://127.0.0.1:1/petstore' }],
  ['dump', quick(command('app/dump')), {}],
])(
  'in a working directory that was deleted, %s fails with a one-line error',
  async (_what, [node, ...args], environment) => {
    const script = 'cd "$(mktemp -d)" && rmdir "$PWD" && exec "$@"';
    const line = ['/bin/sh', '-c', script, 'sh', node, ...args] as const;
    const { code, stdout, stderr } = await new Program(line, { PATH: process.env.PATH ?? '', ...environment }).ended;
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^[\w-]+: [^\n]*working directory was deleted[^\n]*\n$/);
  },
);

describe('the log', () => {
  const other = new Installation({ ADMIN_API_KEY: ADMIN_KEY, METRICS_PORT: '0' });
  afterAll(() => other.remove());

  test('contains the caller and the operation of each request, but no secret', async () => {
    const gateway = await other.start();
    const { url } = gateway;
    const wrong = `ps_000000000000_${'x'.repeat(32)}`;
    const body = JSON.stringify({ query: `query ${'N'.repeat(300)} { pets { totalCount } }` });
    await ask(url, { method: 'POST', path: '/graphql', headers: HEADERS, body });
    await ask(url, { path: '/pets/7', headers: { authorization: `Bearer ${ADMIN_KEY}` } });
    await ask(url, { path: `/pets?name=${ADMIN_KEY}`, headers: { 'x-request-id': 'mine-1' } });
    await ask(url, { path: '/pets', headers: { 'x-api-key': wrong } });
    const metrics = await gateway.metrics();
    expect(metrics).toContain('petstore_');

    const requests = () => logOf(gateway.stdout).filter(({ msg }) => msg === 'request');
    await until(() => requests().length === 4);
    for (const text of [gateway.stdout, gateway.stderr, metrics])
      for (const secret of [ADMIN_KEY, wrong]) expect(text).not.toContain(secret.split('_')[2]);
    const caller = ADMIN_KEY.split('_')[1];
    const common = { level: 'info', ms: expect.any(Number), requestId: expect.any(String) };
    const graphql = { method: 'POST', path: '/graphql', operation: 'query pets', operationName: 'N'.repeat(100) };
    expect(requests()).toMatchObject([
      { ...common, ...graphql, caller, status: 200 },
      { ...common, path: '/pets/7', caller, operation: 'getPet', status: 404 },
      { ...common, caller: '127.0.0.1', operation: 'listPets', status: 200, requestId: 'mine-1' },
      { ...common, caller: '127.0.0.1', operation: 'listPets', status: 401 },
    ]);
  });
});

describe('under a process manager that forks with node:cluster, such as PM2,', () => {
  const [node, ...args] = MAIN;
  const options = JSON.stringify({ exec: args.at(-1), execArgv: args.slice(0, -1) });
  const manager = `const cluster = require('node:cluster');
    cluster.setupPrimary(${options});
    const worker = cluster.fork();
    worker.on('exit', (code) => process.exit(code));
    process.on('SIGTERM', () => worker.process.kill('SIGTERM'));`;
  const managed = (environment: Record<string, string>) => new Installation(environment, [node, '-e', manager]);

  test('the first start prints the admin key, which can read the metrics, and SIGTERM stops the gateway', async () => {
    const other = managed({});
    const gateway = await other.start();
    const headers = { 'x-api-key': String(gateway.report['Admin key']) };
    expect(headers['x-api-key']).toMatch(/^ps_/);
    expect((await ask(gateway.url, { path: '/metrics', headers })).status).toBe(200);
    expect(await gateway.stop()).toMatchObject({ code: 0, stderr: '' });
    other.remove();
  });

  test('WEB_CONCURRENCY is refused with one line', async () => {
    const environment = { WEB_CONCURRENCY: '2', DATABASE_URL: 'postgresql://db', REDIS_URL: 'redis://cache' };
    const { code, stderr } = await new GatewayProcess(environment, [node, '-e', manager]).ended;
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^petstore-gateway: WEB_CONCURRENCY must be 1 [^\n]*\n$/),
    ]);
  });
});
