import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { Collector } from './helper/collector';
import { TEST_DATABASE_URL } from './helper/database';
import { ADMIN_KEY } from './helper/gateway';
import { TEST_REDIS_URL } from './helper/production';
import { TracedGateway } from './helper/traced';

const SECRET = ADMIN_KEY.split('_')[2] ?? '';

let gateway: TracedGateway;
beforeAll(async () => {
  gateway = await TracedGateway.create();
});
afterAll(() => gateway.remove());

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
    const served = await gateway.serve(
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

  const spansOf = ({ traceId }: { traceId: string }) => collector.spans.filter((span) => span.traceId === traceId);
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
        'server.address': new URL(gateway.databaseUrl ?? '').hostname,
      },
    });
    for (const read of [rest, ...again]) {
      const prepared = spansOf(read).filter(({ attributes }) => /from pets/.test(String(attributes['db.query.text'])));
      expect(prepared).toEqual([expect.objectContaining({ name: expect.stringMatching(/^SELECT petstore_test_/) })]);
    }
  });

  const onRedis = TEST_REDIS_URL ? test : test.skip;
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
    ]);
  });
});

test('without a collector no tracing code is loaded (except the API, which prom-client depends on)', async () => {
  const spy = `--require "${join(__dirname, 'helper', 'print-loaded.cjs')}"`;
  const { statuses, stderr } = await gateway.serve({ NODE_OPTIONS: spy }, { path: '/pets' });
  expect(statuses).toEqual([200]);
  const [, count, names] = /^LOADED (\d+) (.*)$/m.exec(stderr) ?? [];
  expect(Number(count)).toBeGreaterThan(500);
  expect(names).toBe('');
});
