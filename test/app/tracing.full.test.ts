import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDatabase, TEST_DATABASE_URL } from '../helper/database';
import { ADMIN_KEY } from '../helper/gateway';
import { GatewayProcess } from '../helper/process';
import { until } from '../helper/until';

const onPostgres = TEST_DATABASE_URL ? test : test.skip;

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';

onPostgres("OpenTelemetry traces a request, its document and its statements, in the client's trace", async () => {
  const { url = '', drop } = await createDatabase();
  const directory = mkdtempSync(join(tmpdir(), 'spans-'));
  const file = join(directory, 'spans');
  writeFileSync(file, '');
  const gateway = await GatewayProcess.start({
    DATABASE_URL: url,
    ADMIN_API_KEY: ADMIN_KEY,
    NODE_OPTIONS: `--import "${join(__dirname, 'instrumented.cjs')}"`,
    TEST_SPANS: file,
  });
  const headers = { 'x-api-key': ADMIN_KEY, traceparent: `00-${TRACE}-00f067aa0ba902b7-01` };
  await gateway.graphql('mutation { createCategory(input: { name: "Dogs" }) { id } }', headers);
  const spans = () => readFileSync(file, 'utf8').split('\n');
  await until(async () => spans().includes(`${TRACE} POST`));
  const insert = expect.stringMatching(new RegExp(`^${TRACE} pg\\.query:INSERT `));
  const names = ['POST', 'graphql.parse', 'graphql.validate'].map((name) => `${TRACE} ${name}`);
  expect(spans()).toEqual(expect.arrayContaining([...names, insert]));
  expect(await gateway.stop()).toMatchObject({ code: 0, stderr: '' });
  await drop();
  rmSync(directory, { recursive: true });
});
