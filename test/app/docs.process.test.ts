import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { statement } from '../../src/database/statement';
import { PROJECT } from '../helper/command';
import { ADMIN_KEY, type Gateway, startGateway } from '../helper/gateway';
import { Installation } from '../helper/installation';
import { running } from '../helper/live';
import { MAIN } from '../helper/process';
import { until } from '../helper/until';
import { blocksOf, Reader, type Step, stepsOf } from './documented';

const run = promisify(execFile);

/** Wraps a command so that it runs in a terminal. Its output is then the same as for a user. */
function inTerminal(line: readonly string[]): [string, ...string[]] {
  return process.platform === 'darwin'
    ? ['script', '-q', '/dev/null', ...line]
    : ['script', '-qec', line.join(' '), '/dev/null'];
}

/** Runs the commands of a page, and expects the output that the page shows. */
async function expectOutputs(steps: ReturnType<typeof stepsOf>, url: string, adminKey: string): Promise<void> {
  const reader = new Reader(url, adminKey);
  expect(steps.length).toBeGreaterThan(0);
  for (const step of steps) expect([step.commands, await reader.type(step)]).toEqual([step.commands, step.output]);
}

test('the README shows exactly what a start prints in a terminal, and the responses to its example requests', async () => {
  const environment = { LOG_LEVEL: 'silent', PATH: process.env.PATH ?? '' };
  const installation = new Installation(environment, inTerminal(MAIN));
  try {
    const [start, ...steps] = stepsOf('README.md');
    const commands = start?.commands.split('\n').map((line) => line.replace(/ +#.*/, ''));
    expect(commands).toEqual(['npm ci && npm start', 'npm ci && npm test']);
    const { stdout, url } = await installation.start();
    const adminKey = /Admin key +(\S+)/.exec(stdout)?.[1] ?? '';
    const [banner = ''] = blocksOf('README.md', '');
    const shown = banner
      .replaceAll('http://127.0.0.1:4000', url)
      .replace('/home/you/petstore-gateway/data', installation.data)
      .replace(/ps_\w+/g, adminKey);
    expect(stdout.replaceAll('\r', '').trim()).toBe(shown.trim());
    await expectOutputs(steps, url, adminKey);
  } finally {
    await installation.remove();
  }
});

const BESIDE = mkdtempSync(join(PROJECT, 'node_modules', '.docs-'));
afterAll(() => rmSync(BESIDE, { recursive: true }));

/** Writes a file below `node_modules`, so that its imports find the installed packages. */
function writeBeside(name: string, text: string): string {
  const file = join(BESIDE, name);
  writeFileSync(file, text);
  return file;
}

test('after a 429 response, the client in docs/limits.md waits as long as Retry-After says, and then succeeds', async () => {
  // The clock of the gateway is stopped at `at` until `start` is set. From then on, the clock runs.
  const clock = { at: Date.now(), start: 0 };
  const gateway = await startGateway({}, () => clock.at + (clock.start && Date.now() - clock.start));
  const url = await gateway.listen();
  let left = 0;
  for (let i = 0; i < 60; i++) {
    const { headers } = await fetch(`${url}/pets`);
    left = Number(/"minute";r=\d+;t=(\d+)/.exec(String(headers.get('ratelimit')))?.[1]);
  }
  clock.at += (left - 1) * 1000; // the minute is nearly over
  gateway.server.server.once('request', () => {
    clock.start = Date.now();
  });
  const [code = ''] = blocksOf('docs/limits.md', 'js');
  const { stdout } = await run(process.execPath, [writeBeside('limits.mjs', code)], { env: { PETSTORE_URL: url } });
  await gateway.close();
  expect(stdout.split('\n')).toEqual(['429: trying again in 1 s', '200 59 []', '']);
});

/** Inserts the usage that docs/usage.md shows, without the three requests that the test itself makes. */
const USED = statement(`insert into usage_days (caller, day, requests, refused, bans)
values ($1, '2026-11-22', 812, 3, 0), ($1, '2026-11-23', 94, 0, 0)`);

/** Starts a gateway with the data that a page assumes. The page `getting-started` begins with an empty store. */
async function openShop(page: string): Promise<Gateway> {
  const [manifest = ''] = blocksOf('docs/trusted-documents.md', 'json');
  const trusted = { TRUSTED_DOCUMENTS: writeBeside('manifest.json', manifest), TRUSTED_DOCUMENTS_ONLY: 'true' };
  const settings = page === 'trusted-documents' ? trusted : {};
  const at = page === 'usage' ? Date.parse('2026-11-23T18:00:00Z') : Date.now();
  const shop = await startGateway(settings, () => at);
  if (page === 'getting-started') return shop;
  if (page === 'usage') await shop.database.serviceSession().write(USED, [ADMIN_KEY.split('_')[1]]);
  await shop.data('mutation { createCategory(input: { name: "Dogs" }) { id } }');
  await shop.data('mutation { createPet(input: { name: "Rex", categoryId: 1 }) { id } }');
  await shop.data('mutation { setInventory(petId: 1, input: { quantity: 3 }) { quantity } }');
  return shop;
}

// The test skips blocks marked `sh no-run`.
test.each([
  ...[
    'getting-started',
    'keys',
    'limits',
    'idempotency',
    'error-handling',
    'deprecation',
    'trusted-documents',
    'usage',
  ],
])('the commands in docs/%s.md print the output that the page shows', async (page) => {
  const shop = await openShop(page);
  try {
    await expectOutputs(stepsOf(`docs/${page}.md`), await shop.listen(), ADMIN_KEY);
  } finally {
    await shop.close();
  }
});

test('the clients in docs/live-events.md receive the events that the page shows, over each transport', async () => {
  const shop = await openShop('live-events');
  const url = await shop.listen();
  const [subscription, page, stream] = stepsOf('docs/live-events.md') as [Step, Step, Step];
  const [client = ''] = blocksOf('docs/live-events.md', 'js');
  const here = ({ commands }: Step) => commands.replace('localhost:4000', new URL(url).host);
  const env = { PETSTORE_WS: `${url.replace('http', 'ws')}/graphql`, PETSTORE_API_KEY: ADMIN_KEY };
  const processes = [
    spawn('bash', ['--norc', '-c', here(subscription)]),
    spawn('bash', ['--norc', '-c', here(stream)]),
    spawn(process.execPath, [writeBeside('client.mjs', client)], { env }),
  ];
  const outputs = processes.map(() => '');
  for (const [i, each] of processes.entries())
    each.stdout.on('data', (data) => {
      outputs[i] += data;
    });
  try {
    await until(async () => (await running(shop)) === 3);
    await shop.data('mutation { setInventory(petId: 1, input: { quantity: 1 }) { quantity } }');
    await shop.data('mutation { updatePet(id: 1, input: { name: "Rex" }) { id } }');
    const last = ['Rex', '"updated"', 'Rex'];
    await until(() => outputs.every((text, i) => text.includes(String(last[i]))));
    expect(outputs[0]).toContain(subscription.output);
    expect(withoutVariable(outputs[1] ?? '')).toContain(withoutVariable(stream.output));
    expect(outputs[2]?.trim()).toBe("{ kind: 'UPDATED', pet: { id: '1', name: 'Rex', status: 'available' } }");
    await expectOutputs([page], url, ADMIN_KEY);
  } finally {
    for (const each of processes) each.kill();
    await shop.close();
  }
});

/** An event without its ids and its time, which the page shows as `…`. */
function withoutVariable(text: string): string {
  return text.replace(/^id: \S+$/gm, 'id').replace(/("(?:id|cursor|at|requestId)"):("[^"]*"|[\d…]+)/g, '$1');
}
