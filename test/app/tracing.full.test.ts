import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDatabase, TEST_DATABASE_URL } from '../helper/database';
import { ADMIN_KEY } from '../helper/gateway';
import { GatewayProcess } from '../helper/process';
import { TEST_REDIS_URL } from '../helper/production';
import { until } from '../helper/until';

const onServers = TEST_DATABASE_URL && TEST_REDIS_URL ? test : test.skip;

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';

onServers(
  "OpenTelemetry adds a request, its GraphQL operation, SQL statement and Redis command to the client's trace",
  async () => {
    const { url = '', drop } = await createDatabase();
    const directory = mkdtempSync(join(tmpdir(), 'spans-'));
    const file = join(directory, 'spans');
    writeFileSync(file, '');
    const gateway = await GatewayProcess.start({
      DATABASE_URL: url,
      DATABASE_POOL_SIZE: '1',
      REDIS_URL: TEST_REDIS_URL ?? '',
      ADMIN_API_KEY: ADMIN_KEY,
      NODE_OPTIONS: `--import "${join(__dirname, 'instrumented.cjs')}"`,
      TEST_SPANS: file,
    });
    const create = (name: string, trace: string) =>
      gateway.graphql(`mutation { createCategory(input: { name: "${name}" }) { id } }`, {
        'x-api-key': ADMIN_KEY,
        traceparent: `00-${trace}-00f067aa0ba902b7-01`,
      });
    /** The names of the spans in a trace, once its request has ended. */
    const spansIn = async (trace: string) => {
      const spans = () =>
        readFileSync(file, 'utf8')
          .split('\n')
          .flatMap((line) => (line.startsWith(trace) ? line.slice(trace.length + 1) : []));
      await until(async () => spans().includes('POST'));
      return spans();
    };
    const insert = expect.stringMatching(/insert into categories /);

    await create('Dogs', TRACE);
    const command = expect.stringMatching(/^evalsha \w+ 1 ratelimit:/);
    const spans = ['POST', 'graphql.parse', 'graphql.validate', 'mutation', insert, command];
    expect(await spansIn(TRACE)).toEqual(expect.arrayContaining(spans));

    // These requests share one database connection. Each statement must still be in the trace of its own request.
    const traces = Array.from({ length: 8 }, (_, i) => `0${i}${TRACE.slice(2)}`);
    await Promise.all(traces.map((trace, i) => create(`Pets ${i}`, trace)));
    for (const trace of traces) {
      const inserts = (await spansIn(trace)).filter((span) => span.includes('insert into '));
      expect([trace, inserts]).toEqual([trace, [insert]]);
    }

    expect(await gateway.stop()).toMatchObject({ code: 0, stderr: '' });
    await drop();
    rmSync(directory, { recursive: true });
  },
);
