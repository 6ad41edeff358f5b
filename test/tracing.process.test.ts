import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Collector } from './helper/collector';
import { createDatabase, TEST_DATABASE_URL } from './helper/database';
import { ADMIN_KEY } from './helper/gateway';
import { type Asked, ask } from './helper/load';
import { GatewayProcess } from './helper/process';

const directory = mkdtempSync(join(tmpdir(), 'petstore-'));
const REDIS_URL = process.env.TEST_REDIS_URL ?? '';
const SECRET = ADMIN_KEY.split('_')[2] ?? '';
let environment: Record<string, string>;
let drop: () => Promise<void>;
beforeAll(async () => {
  const created = TEST_DATABASE_URL ? await createDatabase() : undefined;
  drop = async () => created?.drop();
  environment = {
    DATABASE_URL: created?.url ?? '',
    DATA_DIR: join(directory, 'data'),
    REDIS_URL,
    ADMIN_API_KEY: ADMIN_KEY,
  };
});
afterAll(async () => {
  await drop();
  rmSync(directory, { recursive: true });
});

/** Starts a gateway with extra environment variables, sends it requests, and stops it. @returns its log, by line. */
async function serve(more: Record<string, string>, ...requests: Asked[]) {
  const gateway = await GatewayProcess.start({ ...environment, ...more });
  const statuses = [];
  for (const { headers, ...rest } of requests)
    statuses.push((await ask(gateway.url, { headers: { ...KEY, ...headers }, ...rest })).status);
  const stopped = performance.now();
  const { code, stdout, stderr } = await gateway.stop('SIGTERM');
  expect([code, stderr.replace(/^LOADED.*\n/m, '')]).toEqual([0, '']);
  const lines = stdout.split('\n').filter((line) => line.startsWith('{'));
  return { statuses, took: performance.now() - stopped, log: lines.map((line) => JSON.parse(line)), stderr };
}

const KEY = { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' };

/** The trace that a client has begun, and the span of its request. */
function parent(isSampled = true) {
  const [traceId, spanId] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')];
  return { traceId, spanId, traceparent: `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}` };
}

describe('a collector', () => {
  const [rest, graphql, failing, unsampled] = [parent(), parent(), parent(), parent(false)];
  const again = [parent(), parent(), parent()];
  const query =
    'mutation Mine($name: String!) { createCategory(input: { name: $name, description: "literal" }) { id } }';
  let collector: Collector;
  let log: Record<string, unknown>[];

  beforeAll(async () => {
    collector = await Collector.start();
    const body = JSON.stringify({ query, variables: { name: 'a value' } });
    const served = await serve(
      { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_SERVICE_NAME: 'shop' },
      { path: `/pets/7`, headers: { traceparent: rest.traceparent } },
      { path: '/graphql', method: 'POST', body, headers: { traceparent: graphql.traceparent } },
      {
        path: `/pets?name=${ADMIN_KEY}`,
        headers: { traceparent: failing.traceparent, 'x-api-key': `${ADMIN_KEY}x` },
      },
      { path: '/pets', headers: { traceparent: unsampled.traceparent } },
      ...again.map(({ traceparent }) => ({ path: '/pets/7', headers: { traceparent } })),
      { path: '/readyz' },
    );
    ({ log } = served);
    expect(served.statuses).toEqual([404, 200, 401, 200, 404, 404, 404, 200]);
    expect(served.took).toBeLessThan(5000);
    await collector.close();
  });

  const spansOf = ({ traceId }: { traceId: string }) =>
    collector.spans.filter((span) => span.traceId === traceId);
  const find = (of: { traceId: string }, name: string) => {
    const found = spansOf(of).find((span) => span.name === name);
    if (!found) throw new Error(`${name} is not among ${spansOf(of).map((span) => span.name)}`);
    return found;
  };

  test("gets a span for each request, in its client's trace", () => {
    expect(find(rest, 'GET /pets/{petId}')).toMatchObject({
      parentSpanId: rest.spanId,
      service: 'shop',
      attributes: {
        'http.request.method': 'GET',
        'http.route': '/pets/{petId}',
        'http.response.status_code': 404,
        'url.path': '/pets/7',
        'url.scheme': 'http',
      },
    });
    expect(find(failing, 'GET /pets').attributes).toMatchObject({ 'http.response.status_code': 401 });
  });

  test('gets a span for each operation, inside that of its request', () => {
    expect(find(graphql, 'mutation')).toMatchObject({
      parentSpanId: find(graphql, 'POST /graphql').spanId,
      attributes: { 'graphql.operation.type': 'mutation', 'graphql.operation.name': 'Mine' },
    });
    expect(find(rest, 'query').parentSpanId).toBe(find(rest, 'GET /pets/{petId}').spanId);
  });

  const onPostgres = TEST_DATABASE_URL ? test : test.skip;
  onPostgres('gets a span for each statement, without its values', () => {
    const statement = spansOf(graphql).find(({ name }) => name.startsWith('INSERT '));
    expect(statement).toMatchObject({
      parentSpanId: find(graphql, 'mutation').spanId,
      attributes: {
        'db.system.name': 'postgresql',
        'db.query.text': expect.stringContaining('VALUES ($1,$2)'),
        'server.address': new URL(environment.DATABASE_URL ?? '').hostname,
      },
    });
    for (const read of [rest, ...again]) {
      const prepared = spansOf(read).filter(({ attributes }) =>
        /from pets/.test(String(attributes['db.query.text'])),
      );
      expect(prepared).toEqual([
        expect.objectContaining({ name: expect.stringMatching(/^SELECT petstore_test_/) }),
      ]);
    }
  });

  const onRedis = REDIS_URL ? test : test.skip;
  onRedis('gets a span for each Redis command, without its arguments', () => {
    const commands = spansOf(graphql).filter(({ attributes }) => attributes['db.system.name'] === 'redis');
    expect(commands.map(({ attributes }) => attributes['db.query.text'])).toContain('evalsha');
  });

  test('gets nothing from probes, or from a trace that its client does not sample', () => {
    expect(spansOf(unsampled)).toEqual([]);
    expect(collector.text).not.toContain('/readyz');
  });

  test('gets no key, query string, header, literal or value', () => {
    expect(collector.spans.length).toBeGreaterThan(4);
    for (const hidden of [SECRET, 'name=', 'literal', 'a value', 'x-api-key'])
      expect(collector.text).not.toContain(hidden);
  });

  test('gets traces that the log lines name', () => {
    const lines = log.filter(({ msg }) => msg === 'request');
    expect(lines.map(({ trace_id }) => trace_id)).toEqual([
      rest.traceId,
      graphql.traceId,
      failing.traceId,
      unsampled.traceId,
      ...again.map(({ traceId }) => traceId),
      undefined,
    ]);
  });
});

test('a collector that does not respond delays no request, delays the exit by seconds at most, and is reported in the log', async () => {
  const silent = createServer().listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  const endpoint = `http://127.0.0.1:${port}`;
  const { statuses, took, log } = await serve({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint }, { path: '/pets' });
  silent.close();
  silent.closeAllConnections();
  expect(statuses).toEqual([200]);
  expect(took).toBeLessThan(8000);
  expect(log).toContainEqual(expect.objectContaining({ level: 'warn', msg: 'traces could not be sent' }));
});

test('without a collector no tracing code is loaded (except the API, which prom-client depends on)', async () => {
  const spy = join(directory, 'spy.cjs');
  writeFileSync(
    spy,
    `process.on('exit', () => {
      const loaded = Object.keys(require.cache);
      process.stderr.write('LOADED ' + loaded.length + ' ' + loaded.filter((file) => /@opentelemetry.(?!api.)|dist.tracing/.test(file)) + '\\n');
    });`,
  );
  const { statuses, stderr } = await serve({ NODE_OPTIONS: `--require ${spy}` }, { path: '/pets' });
  expect(statuses).toEqual([200]);
  const [, count, names] = /^LOADED (\d+) (.*)$/m.exec(stderr) ?? [];
  expect(Number(count)).toBeGreaterThan(500);
  expect(names).toBe('');
});
