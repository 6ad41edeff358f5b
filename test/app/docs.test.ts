import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { SETTING_NAMES } from '../../src/app/config';
import { METRICS } from '../../src/app/metric-table';
import { POOL_METRICS } from '../../src/app/primary';
import { PLANS } from '../../src/rate-limit/plans';
import { PROJECT } from '../helper/command';
import { blocksOf, PAGES, textOf } from '../helper/documented';
import { startGateway } from '../helper/gateway';

const EVERYTHING = PAGES.map(textOf).join('\n');

test('every script named in the documentation and CONTRIBUTING exists', () => {
  const contributing = readFileSync(join(PROJECT, 'CONTRIBUTING.md'), 'utf8');
  const { scripts } = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8'));
  const named = [...`${EVERYTHING}${contributing}`.matchAll(/npm run (?:--silent )?([a-z:]+)/g)].map(
    ([, name]) => name,
  );
  expect(named.length).toBeGreaterThan(8);
  expect(named.filter((name) => !scripts[name ?? ''])).toEqual([]);
});

test('what the guides have from elsewhere is up to date: the settings, the diagrams', async () => {
  await promisify(execFile)(process.execPath, [join(PROJECT, 'docs', 'generate.mjs'), '--check']);
});

test('every variable that the process reads is in docs/configuration.md and in .env.example', () => {
  const config = readFileSync(join(PROJECT, 'src', 'app', 'config.ts'), 'utf8');
  const example = readFileSync(join(PROJECT, '.env.example'), 'utf8');
  const settings = textOf('docs/configuration.md');
  const names = [...config.matchAll(/^ {2}([A-Z_]+): setting/gm)].map(([, name]) => name ?? '');
  expect(names.length).toBeGreaterThan(10);
  expect(names.filter((name) => !settings.includes(`\`${name}\``))).toEqual([]);
  expect(names.filter((name) => name !== 'NODE_ENV' && !example.includes(`${name}=`))).toEqual([]);
});

test.each([
  ['compose.yaml', /^ {4}([A-Z_]+): /gm],
  ['docs/kubernetes/gateway.yaml', /(?:name: |--from-literal=)([A-Z_]+)\b/g],
  ['Dockerfile', /(?<=^ENV .*)\b([A-Z_]+)=/gm],
])('%s sets only variables that the process reads', (file, pattern) => {
  const names = [...textOf(file).matchAll(pattern)].map(([, name = '']) => name);
  expect(names.length).toBeGreaterThan(2);
  expect(names.filter((name) => !SETTING_NAMES.includes(name))).toEqual([]);
});

test('every metric is named by a guide', async () => {
  const gateway = await startGateway();
  const { body } = await gateway.app.inject({ url: '/metrics' });
  await gateway.close();
  const served = [...body.matchAll(/^# TYPE (petstore_\w+)/gm)].map(([, name]) => name ?? '');
  // Some are only there with Redis or workers.
  const declared = [...METRICS, ...POOL_METRICS].map(({ name }) => `petstore_${name}`);
  const names = new Set([...served, ...declared]);
  expect(served.length).toBeGreaterThan(10);
  expect([...names].filter((name) => !EVERYTHING.includes(`\`${name}\``))).toEqual([]);
});

test.each(['README.md', 'docs/limits.md'])('%s has the quota of every plan', (page) => {
  const rows = [...textOf(page).matchAll(/^\| ([A-Z]+)[^|]* \| ([\d,]+) \| ([\d,]+) \|$/gm)];
  const number = (text = '') => Number(text.replaceAll(',', ''));
  const shown = rows.map(([, plan, minute, day]) => [plan, { perMinute: number(minute), perDay: number(day) }]);
  expect(Object.fromEntries(shown)).toEqual(PLANS);
});

test('the page of the administrator offers every plan', () => {
  const script = readFileSync(join(PROJECT, 'src', 'portal', 'public', 'admin-dialogs.js'), 'utf8');
  const names = [...Object.keys(PLANS), 'ENTERPRISE'].map((plan) => `'${plan}'`).join(', ');
  expect(script).toContain(`const PLANS = [${names}];`);
});

test('the TypeScript in the documentation is that of clients which the suite runs', () => {
  const app = join(__dirname, 'clients');
  const clients = ['apollo.ts', 'apollo-cache.ts', 'urql.ts', 'relay.ts', 'rest.ts']
    .map((name) => readFileSync(join(app, name), 'utf8'))
    .join('\n');
  const shown = PAGES.flatMap((page) => blocksOf(page, 'ts'));
  expect(shown.length).toBeGreaterThan(2);
  expect(shown.filter((code) => !clients.includes(code))).toEqual([]);
});
