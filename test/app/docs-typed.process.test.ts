import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { statement } from '../../src/database/statement';
import { PROJECT } from '../helper/command';
import { blocksOf, Reader, stepsOf } from '../helper/documented';
import { ADMIN_KEY, type Gateway, startGateway } from '../helper/gateway';
import { running } from '../helper/live';
import { until } from '../helper/until';

/** The gateway's clock: it stands still at `at`, and runs on from `start`. */
const clock = { at: Date.now(), start: 0 };
const now = () => clock.at + (clock.start && Date.now() - clock.start);

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway({}, now);
});
afterAll(() => gateway.close());

test('the client of docs/limits.md waits as long as it is told to, and is then served', async () => {
  const [code = ''] = blocksOf('docs/limits.md', 'js');
  expect(code).toContain('retry-after');
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

  const directory = mkdtempSync(join(tmpdir(), 'readme-'));
  try {
    const file = join(directory, 'client.mjs');
    writeFileSync(file, code);
    const { stdout } = await promisify(execFile)(process.execPath, [file], {
      env: { PETSTORE_URL: url },
    });
    expect(stdout.split('\n')).toEqual(['429: trying again in 1 s', '200 59 []', '']);
  } finally {
    rmSync(directory, { recursive: true });
  }
});

/** The pages whose commands are run here, but for those in blocks of `sh no-run`. */
const RUN = [
  'getting-started',
  'keys',
  'limits',
  'idempotency',
  'error-handling',
  'deprecation',
  'trusted-documents',
  'usage',
];

/** What docs/usage.md shows, but for the three requests that are made here. */
const USED = statement(`insert into usage_days (caller, day, requests, refused, bans)
values ($1, '2026-11-22', 812, 3, 0), ($1, '2026-11-23', 94, 0, 0)`);

const BESIDE = mkdtempSync(join(PROJECT, 'node_modules', '.docs-'));
afterAll(() => rmSync(BESIDE, { recursive: true }));

/** A file beside the packages that it imports. */
function written(name: string, text: string): string {
  const file = join(BESIDE, name);
  writeFileSync(file, text);
  return file;
}

/** What readers have before they come to a page: the first begins with an empty store. */
async function openShop(name: string): Promise<Gateway> {
  const [manifest = ''] = blocksOf('docs/trusted-documents.md', 'json');
  const trusted = { TRUSTED_DOCUMENTS: written('manifest.json', manifest), TRUSTED_DOCUMENTS_ONLY: 'true' };
  const settings = name === 'trusted-documents' ? trusted : {};
  if (name === 'usage') clock.at = Date.parse('2026-11-23T18:00:00Z');
  const shop = await startGateway({ ANONYMOUS_ACCESS: 'write', ...settings }, () => clock.at);
  if (name === 'getting-started') return shop;
  if (name === 'usage') await shop.database.write(USED, [ADMIN_KEY.split('_')[1]]);
  await shop.data('mutation { createCategory(input: { name: "Dogs" }) { id } }');
  await shop.data('mutation { createPet(input: { name: "Rex", categoryId: 1 }) { id } }');
  await shop.data('mutation { setInventory(petId: 1, input: { quantity: 3 }) { quantity } }');
  return shop;
}

describe('what readers are told to type', () => {
  test.each(RUN)('docs/%s.md has the output that it shows', async (name) => {
    const shop = await openShop(name);
    try {
      const steps = stepsOf(`docs/${name}.md`);
      expect(steps.length).toBeGreaterThan(0);
      const reader = new Reader(await shop.listen(), ADMIN_KEY);
      for (const step of steps) expect([step.commands, await reader.type(step)]).toEqual([step.commands, step.output]);
    } finally {
      await shop.close();
    }
  });

  test('docs/live-events.md shows events as they come over both transports', async () => {
    const shop = await openShop('live-events');
    const url = await shop.listen();
    const [step] = stepsOf('docs/live-events.md');
    const [client = ''] = blocksOf('docs/live-events.md', 'js');
    const typed = step?.commands.replace('localhost:4000', new URL(url).host) ?? '';
    const processes = [
      spawn('bash', ['--norc', '-c', typed]),
      spawn(process.execPath, [written('client.mjs', client)], {
        env: { PETSTORE_WS: url.replace('http', 'ws').concat('/graphql'), PETSTORE_API_KEY: ADMIN_KEY },
      }),
    ];
    const outputs = processes.map((each) => {
      const output = { text: '' };
      each.stdout.on('data', (data) => {
        output.text += data;
      });
      return output;
    });
    try {
      await until(async () => (await running(shop)) === 2);
      await shop.data('mutation { setInventory(petId: 1, input: { quantity: 1 }) { quantity } }');
      await shop.data('mutation { updatePet(id: 1, input: { name: "Rex" }) { id } }');
      await until(async () => outputs.every(({ text }) => text.includes('Rex')));
      const [stream, socket] = outputs.map(({ text }) => text.trim());
      expect(stream).toContain(step?.output);
      expect(socket).toBe("{ kind: 'UPDATED', pet: { id: '1', name: 'Rex', status: 'available' } }");
    } finally {
      for (const each of processes) each.kill();
      await shop.close();
    }
  });
});
