import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Gateway, startGateway } from './helper/gateway';

const PROJECT = join(__dirname, '..');
const page = (name: string) => readFileSync(join(PROJECT, 'docs', name), 'utf8');
const DOCS = readdirSync(join(PROJECT, 'docs')).filter((name) => name.endsWith('.md'));
const EVERYTHING = [readFileSync(join(PROJECT, 'README.md'), 'utf8'), ...DOCS.map(page)].join('\n');

/** The gateway's clock: it stands still at `at`, and runs on from `start`. */
const clock = { at: Date.now(), start: 0 };
const now = () => clock.at + (clock.start && Date.now() - clock.start);

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway({}, now);
});
afterAll(() => gateway.close());

test('the client of docs/limits.md waits as long as it is told to, and is then served', async () => {
  const [, code = ''] = /```js\n([\s\S]*?)```/.exec(page('limits.md')) ?? [];
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

test('every script named in the documentation and CONTRIBUTING exists', () => {
  const contributing = readFileSync(join(__dirname, '..', 'CONTRIBUTING.md'), 'utf8');
  const { scripts } = JSON.parse(readFileSync(join(__dirname, '..', 'package.json'), 'utf8'));
  const named = [...`${EVERYTHING}${contributing}`.matchAll(/npm run (?:--silent )?([a-z:]+)/g)].map(
    ([, name]) => name,
  );
  expect(named.length).toBeGreaterThan(8);
  expect(named.filter((name) => !scripts[name ?? ''])).toEqual([]);
});

test('every variable that the process reads is in docs/configuration.md and in .env.example', () => {
  const config = readFileSync(join(__dirname, '..', 'src', 'config.ts'), 'utf8');
  const example = readFileSync(join(__dirname, '..', '.env.example'), 'utf8');
  const settings = page('configuration.md') + page('bounds.md');
  const names = [...config.matchAll(/^ {2}([A-Z_]+): setting/gm)].map(([, name]) => name ?? '');
  expect(names.length).toBeGreaterThan(10);
  expect(names.filter((name) => !settings.includes(`\`${name}\``))).toEqual([]);
  expect(names.filter((name) => name !== 'NODE_ENV' && !example.includes(`${name}=`))).toEqual([]);
});

test('the TypeScript in the documentation is that of clients which the suite runs', () => {
  const app = join(__dirname, 'clients', 'app');
  const clients = ['apollo.ts', 'relay.ts', 'rest.ts', 'router.ts', 'hey-api.ts']
    .map((name) => readFileSync(join(app, name), 'utf8'))
    .join('\n');
  const shown = [...EVERYTHING.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code = '']) => code);
  expect(shown.length).toBeGreaterThan(2);
  expect(shown.filter((code) => !clients.includes(code))).toEqual([]);
});
