import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { createDatabase, TEST_DATABASE_URL } from './helper/database';
import { ADMIN_KEY } from './helper/gateway';
import { GatewayProcess } from './helper/process';
import { until } from './helper/until';

const onPostgres = TEST_DATABASE_URL ? test : test.skip;

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
/** The spans that the collector has received of the trace, by name. */
const spans: string[] = [];
const collector = createServer(async (request, response) => {
  for (const { scopeSpans } of JSON.parse(await text(request)).resourceSpans)
    for (const span of scopeSpans.flatMap((scope: { spans: object[] }) => scope.spans))
      if (span.traceId === TRACE) spans.push(span.name);
  response.setHeader('content-type', 'application/json').end('{}');
});
afterAll(() => {
  collector.close();
  collector.closeAllConnections();
});

onPostgres("OpenTelemetry traces a request, its document and its statements, in the client's trace", async () => {
  const { url = '', drop } = await createDatabase();
  await once(collector.listen(0, '127.0.0.1'), 'listening');
  const gateway = await GatewayProcess.start({
    DATABASE_URL: url,
    ADMIN_API_KEY: ADMIN_KEY,
    NODE_OPTIONS: `--import "${join(__dirname, 'helper', 'instrumented.cjs')}"`,
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}`,
  });
  const headers = { 'x-api-key': ADMIN_KEY, traceparent: `00-${TRACE}-00f067aa0ba902b7-01` };
  await gateway.graphql('mutation { createCategory(input: { name: "Dogs" }) { id } }', headers);
  await until(async () => spans.includes('POST'));
  const insert = expect.stringMatching(/^pg\.query:INSERT /);
  expect(spans).toEqual(expect.arrayContaining(['POST', 'graphql.parse', 'graphql.validate', insert]));
  expect(await gateway.stop()).toMatchObject({ code: 0, stderr: '' });
  await drop();
});
