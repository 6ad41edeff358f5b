import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Caller, type Net, type Scenario, until } from '../scenario';
import { ADMIN_KEY, Process } from '../server';

const DIST = join(__dirname, '..', '..', '..', 'dist');

interface Ending {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command of the build to its end. */
async function run(script: string, args: readonly string[], environment: Record<string, string>): Promise<Ending> {
  const child = spawn(process.execPath, [join(DIST, script), ...args], {
    env: environment,
    cwd: tmpdir(), // This directory has no .env file.
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => {
      output[name] += text;
    });
  const [code] = await once(child, 'close');
  return { code, ...output };
}

/** Starts a gateway that is expected to exit, and waits until it exits. */
async function ending(environment: Record<string, string>): Promise<Ending> {
  const process = new Process(environment);
  await process.ready().catch(() => undefined);
  const code = await process.stop();
  return { code, stdout: process.stdout, stderr: process.stderr };
}

/** Settings with which the gateway does not start, each with a name that the error message must contain. */
const WRONG: readonly (readonly [name: string, settings: Record<string, string>])[] = [
  ['PORT', { PORT: 'http' }],
  ['DATABASE_URL', { DATABASE_URL: 'mysql://secret@db/shop' }],
  ['REDIS_URL', { REDIS_URL: 'cache:6379' }],
  ['ANONYMOUS_ACCESS', { ANONYMOUS_ACCESS: 'admin' }],
  ['ADMIN_API_KEY', { ADMIN_API_KEY: 'secret' }],
  ['TRUST_PROXY', { TRUST_PROXY: '10.0.0.0/33' }],
  ['BAN_AFTER', { BAN_AFTER: '0' }],
  ['CORS_ORIGINS', { CORS_ORIGINS: 'https://shop.example/path' }],
  ['LOG_LEVEL', { LOG_LEVEL: 'loud' }],
  ['REQUEST_TIMEOUT_MS', { REQUEST_TIMEOUT_MS: '1.5' }],
  ['METRICS_PORT', { METRICS_PORT: '4321', PORT: '4321' }],
  ['DATABASE_URL', { WEB_CONCURRENCY: '2' }],
  ['DATA_DIR', { DATA_DIR: '/dev/null/data' }],
];

/** The admin under a new name for each start of the gateway, because a start resets the admin's quota windows. */
const since = (start: number): Caller => ({ name: `admin since start ${start}`, headers: { 'x-api-key': ADMIN_KEY } });

/** The complete lines of the log. */
function logged(net: Net): Record<string, unknown>[] {
  const text = net.server.stdout();
  const lines = text.slice(0, text.lastIndexOf('\n') + 1).split('\n');
  return lines.filter(Boolean).map((line) => JSON.parse(line));
}

const VARYING = new Set(['time', 'ms', 'pid', 'hostname', 'requestId']);

export const scenarios: Scenario[] = [
  {
    name: 'operation wrong settings',
    once: true,
    only: 'embedded',
    run: async (net) => {
      const root = mkdtempSync(join(tmpdir(), 'petstore-net-settings-'));
      const lines: string[] = [];
      for (const [name, settings] of WRONG) {
        const { code, stdout, stderr } = await ending({ DATA_DIR: join(root, 'data'), ...settings });
        const isOneLine = /^petstore-gateway: [^\n]+\n$/.test(stderr);
        const says = `says ${name}: ${stderr.includes(name)}`;
        const keepsSecret = `tells a secret: ${/secret/.test(stderr)}`;
        lines.push(
          `${JSON.stringify(settings)}: exit code ${code}, output ${JSON.stringify(stdout)}, one line on stderr: ${isOneLine}, ${says}, ${keepsSecret}`,
        );
      }
      net.note('settings that are wrong', lines.join('\n'));

      const taken = createServer().listen(0, '127.0.0.1');
      await once(taken, 'listening');
      const { port } = taken.address() as { port: number };
      const others: string[] = [];
      for (const [what, environment] of [
        ['a port that is taken', { DATA_DIR: String(net.server.dataDirectory).concat('-2'), PORT: String(port) }],
        ['a data directory that is in use', { DATA_DIR: String(net.server.dataDirectory) }],
        ['a PostgreSQL out of reach', { DATABASE_URL: 'postgresql://user:hunter2@127.0.0.1:1/petstore' }],
      ] as const) {
        const { code, stdout, stderr } = await ending(environment);
        const isOneLine = /^petstore-gateway: [^\n]+\n$/.test(stderr);
        others.push(
          `${what}: exit code ${code}, output ${JSON.stringify(stdout)}, one line on stderr: ${isOneLine}, tells a password: ${stderr.includes('hunter2')}`,
        );
      }
      taken.close();
      rmSync(root, { recursive: true, force: true });
      rmSync(String(net.server.dataDirectory).concat('-2'), { recursive: true, force: true });
      net.note('other startup errors', others.join('\n'));
      await net.rest('GET /pets', { title: 'the gateway that runs is not disturbed' });
    },
  },
  {
    name: 'operation first start',
    only: 'embedded',
    run: async (net) => {
      const root = mkdtempSync(join(tmpdir(), 'petstore-net-first-'));
      const lines: string[] = [];
      for (const what of ['first start', 'second start']) {
        const gateway = new Process({ DATA_DIR: join(root, 'data'), LOG_LEVEL: 'error' });
        await gateway.ready();
        const line = JSON.parse(gateway.stdout.split('\n')[0] ?? '');
        const key = line['Admin key'];
        const shown = gateway.stdout.match(/ps_[0-9a-z]{12}_[0-9A-Za-z]{32}/g)?.length ?? 0;
        lines.push(`${what}: ${Object.keys(line)}, keys shown: ${shown}`);
        if (key) {
          const response = await fetch(`${gateway.url}/graphql`, {
            method: 'POST',
            headers: { 'content-type': 'application/json', 'x-api-key': key },
            body: '{"query":"{ viewer { plan scopes apiKey { name scopes perMinute perDay } } apiKeys { totalCount } }"}',
          });
          const { data } = (await response.json()) as { data: unknown };
          lines.push(`with that key: ${response.status} ${JSON.stringify(data)}`);
        }
        lines.push(`exit code ${await gateway.stop()}, on stderr: ${JSON.stringify(gateway.stderr)}`);
      }
      rmSync(root, { recursive: true, force: true });
      net.note('a start on an empty directory without ADMIN_API_KEY, and the next start', lines.join('\n'));
    },
  },
  {
    name: 'operation killed and stopped',
    run: async (net) => {
      await net.shop();
      for (const round of [1, 2]) {
        const headers = { 'idempotency-key': `order-${round}` };
        const body = { petId: 1, quantity: 1 };
        const order = `order${round}`;
        await net.rest('POST /store/orders', { as: since(round), headers, body, save: { [order]: 'id' } });
        await net.rest('PATCH /pets/2', { as: since(round), body: { name: `Round ${round}` } });
        const code = await net.server.stop('SIGKILL');
        await net.server.restart();
        net.note('killed and started again', `exit code ${code}`);
        const as = since(round + 1);
        await net.rest('POST /store/orders', { as, headers, body, title: 'replayed' });
        await net.rest('POST /store/orders', { as, headers, body: { petId: 2 }, title: 'another payload' });
        await net.rest(`GET /store/orders/{${order}}`, { as });
        await net.rest('GET /pets/2', { as });
        await net.rest('GET /store/inventory/1', { as });
      }

      const body = JSON.stringify({ name: 'In flight' });
      const { hostname, port } = new URL(net.url);
      const request = httpRequest({
        hostname,
        port,
        method: 'POST',
        path: '/categories',
        headers: {
          'x-api-key': ADMIN_KEY,
          'content-type': 'application/json',
          'content-length': body.length,
          expect: '100-continue',
        },
      });
      request.flushHeaders();
      await once(request, 'continue');
      const stopped = net.server.stop('SIGTERM');
      await until(() =>
        fetch(`${net.url}/livez`).then(
          () => false,
          () => true,
        ),
      );
      request.end(body);
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      response.resume();
      await once(response, 'end');
      const { connection } = response.headers;
      net.note(
        'a request whose body arrives after SIGTERM',
        `${response.statusCode}, connection: ${connection}, then exit code ${await stopped}`,
      );
      await net.server.restart();
      await net.graphql('{ categories(filter: { name: "In flight" }) { nodes { name } } }', undefined, {
        as: since(4),
      });
      net.note('SIGINT', `exit code ${await net.server.stop('SIGINT')}, on stderr: ${net.server.stderr()}`);
    },
  },
  {
    name: 'operation log',
    once: true,
    settings: { LOG_LEVEL: 'info' },
    run: async (net) => {
      net.hide(ADMIN_KEY, 'admin key');
      const wrong = `ps_000000000000_${'x'.repeat(32)}`;
      const as = net.anonymous(1);
      const graphql = (query: string, more = {}) => net.exchange('POST', '/graphql', { body: { query, ...more } });
      await net.exchange('GET', '/pets?limit=1', { as, headers: { 'x-request-id': 'mine-1' } });
      await net.exchange('GET', `/pets?name=${ADMIN_KEY}`, { as });
      await net.exchange('GET', '/pets/7', {
        headers: { 'x-api-key': undefined, authorization: `Bearer ${ADMIN_KEY}` },
      });
      await net.exchange('POST', '/categories', { body: { name: 'Dogs' } });
      await net.exchange('GET', '/pets', { as, headers: { 'x-api-key': wrong } });
      await net.exchange('GET', '/nothing?token=hunter2', { as });
      await graphql('query Mine { pets { totalCount } }');
      await graphql(`query ${'N'.repeat(300)} { pets { totalCount } }`);
      await graphql('{ pets { totalCount } orders { totalCount } }');
      await graphql('mutation { deletePet(id: 999) { id } }');
      await graphql('{ nonsense }');
      await graphql('query A { pets { totalCount } } query B { __typename }', { operationName: 'B' });
      await net.exchange('GET', '/livez', { as });
      await net.exchange('GET', '/readyz', { as });
      await net.exchange('GET', '/', { as });
      await net.exchange('GET', '/docs/limits', { as });
      await net.exchange('OPTIONS', '/pets', { as });
      await net.exchange('GET', '/openapi.json', { as, headers: { 'x-request-id': 'last' } });
      await until(() => logged(net).some(({ requestId }) => requestId === 'last'));
      const requests = logged(net).filter(({ msg }) => msg === 'request');
      const ids = requests.map(({ requestId }) => requestId);
      net.note('ids of requests', { given: [ids[0], ids.at(-1)], areDistinct: new Set(ids).size === ids.length });
      net.note(
        'a line for each request',
        requests
          .map((line) => JSON.stringify(line, (name, value) => (VARYING.has(name) ? `«${typeof value}»` : value)))
          .join('\n'),
      );
      const output = net.server.stdout() + net.server.stderr();
      const secrets = [ADMIN_KEY, ADMIN_KEY.split('_')[2], wrong.split('_')[2], 'hunter2', '/pets?'];
      const found = secrets.filter((secret) => output.includes(String(secret)));
      net.note('secrets and queries in the log', { found });
      net.note('members of the first line', Object.keys(logged(net)[0] ?? {}).join(' '));
    },
  },
  {
    name: 'operation keys command',
    once: true,
    run: async (net) => {
      net.hide(net.url, 'url');
      const environment = { PETSTORE_URL: net.url, PETSTORE_API_KEY: ADMIN_KEY };
      const lines: string[] = [];
      const keys = async (...args: string[]) => {
        const { code, stdout, stderr } = await run('app/keys.js', args, environment);
        return { code, stdout, stderr, json: args.includes('--json') && code === 0 ? JSON.parse(stdout) : undefined };
      };
      const record = async (...args: string[]) => {
        const { code, json, stdout, stderr } = await keys(...args, '--json');
        if (json?.secret) {
          net.hide(json.secret, 'a new secret');
          net.hide(json.apiKey.id, 'a new key');
        }
        const output = json ? JSON.stringify(json) : `${stdout.length ? 'with output ' : ''}${oneLine(stderr)}`;
        net.note(`keys ${args.join(' ')} --json`, `exit code ${code}\n${output}`);
        return json;
      };
      const created = await record('create', '--name', 'Acme', '--plan', 'pro', '--scopes', 'read');
      const id: string = created.apiKey.id;
      const agreed = ['--plan', 'Enterprise', '--per-minute', '5', '--per-day', '50', '--scopes', 'read, admin'];
      await record('create', '--name', 'Agreed', ...agreed, '--expires', '2090-01-01T00:00:00Z');
      const { json: list } = await keys('list', '--json');
      net.note('keys list --json', list.map(({ name, plan }: Record<string, string>) => `${name} ${plan}`).join('\n'));
      await record('update', id, '--name', 'After', '--plan', 'business');
      await record('update', id, '--expires', '2090-01-01T00:00:00Z');
      await record('update', id, '--expires', 'never');
      await record('rotate', id, '--grace', '0');
      await record('rotate', id, '--grace', '24h');
      await record('revoke', id);
      await record('unban', '192.0.2.1');
      await record('unban', id);
      await record('usage', id, '--days', '1');
      await record('revoke', 'zzzzzzzzzzzz');
      await record('revoke', 'ps_x');
      await record('revoke');
      await record('make');
      await record('list', '--colour');
      await record('create');
      await record('create', '--name', ' ');
      await record('create', '--name', 'x', '--plan', 'gold');
      await record('create', '--name', 'x', '--plan', 'enterprise');
      await record('create', '--name', 'x', '--per-day', 'many');
      await record('rotate', id, '--grace', 'soon');
      await record('unban', 'nobody');
      await record('list', '--key', 'wrong');
      await record('list', '--key', '');
      await record('list', '--url', 'nowhere');
      await record('list', '--url', 'http://127.0.0.1:2');
      for (const args of [['--help'], []]) {
        const { code, stdout } = await keys(...args);
        lines.push(`keys ${args}: exit code ${code}, ${stdout.slice(0, 6)}`);
      }
      const { stdout } = await keys('create', '--name', 'as text');
      lines.push(`keys create as text shows the secret once: ${stdout.match(/ps_\w+/g)?.length === 1}`);
      const fallback = await run('app/keys.js', ['list', '--json'], {
        PORT: new URL(net.url).port,
        ADMIN_API_KEY: ADMIN_KEY,
      });
      lines.push(`with PORT and ADMIN_API_KEY: exit code ${fallback.code}`);
      net.note('keys otherwise', lines.join('\n'));
    },
  },
  {
    name: 'operation seed',
    run: async (net) => {
      const { dataDirectory, databaseUrl } = net.server;
      const environment = { ...(databaseUrl ? { DATABASE_URL: databaseUrl } : { DATA_DIR: String(dataDirectory) }) };
      await net.server.stop();
      const lines: string[] = [];
      for (const args of [['--pets', '0'], ['--pets', 'many'], ['--colour'], ['--pets', '200'], ['--pets', '200']]) {
        const { code, stdout, stderr } = await run('app/seed.js', args, environment);
        const isOneLine = /^seed: [^\n]+\n$/.test(stderr);
        lines.push(
          `seed ${args.join(' ')}: exit code ${code}, output: ${stdout !== ''}, one line of error: ${isOneLine}`,
        );
      }
      net.note('seed', lines.join('\n'));
      await net.server.restart();
      const counts = await net.prepare(
        '{ pets { totalCount } categories { totalCount } orders { totalCount } inventory { totalCount } }',
      );
      const { inventory, ...others } = counts as Record<string, { totalCount: number }>;
      net.note('the seeded data', { ...others, 'stock of half of them': (inventory?.totalCount ?? 0) > 100 });
      const { pets } = await net.prepare('{ pets(first: 100) { nodes { name status category { name } } } }');
      const { nodes } = pets as { nodes: { status: string; category: { name: string } }[] };
      net.note('statuses', [...new Set(nodes.map(({ status }) => status))].sort().join(' '));
      await net.rest('POST /pets', {
        as: since(2),
        body: { name: 'Rex', categoryId: 1 },
        title: 'ids go on after the samples',
      });
    },
  },
];

function oneLine(stderr: string): string {
  return JSON.stringify({ message: stderr.replace(/\n\nUsage: [\s\S]*/, '\n\nUsage: …') });
}
