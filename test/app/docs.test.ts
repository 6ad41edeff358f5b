import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { SETTING_NAMES } from '../../src/app/config';
import { metricsOf, type Observed } from '../../src/app/metric-table';
import { poolMetrics } from '../../src/app/primary';
import { PLANS } from '../../src/rate-limit/plans';
import { PROJECT } from '../helper/command';
import { startGateway } from '../helper/gateway';
import { blocksOf, PAGES, textOf } from './documented';

const EVERYTHING = PAGES.map(textOf).join('\n');

/** The text of the first capturing group in each match. */
const found = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, group]) => String(group));

/** The pages and the other documents of the repository. */
const DOCUMENTS = [...PAGES, 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md', 'bench/README.md'];

// Ignores files named `customers` or `bookshop`, because readers of the guides create these files themselves.
test.each(DOCUMENTS)('every file named in %s exists', (page) => {
  const prose = textOf(page).replace(/```[\s\S]*?```/g, '');
  const named = found(
    prose,
    /`((?!customers|\S*bookshop)[\w-]+\/[\w./-]+\.(?:[cm]?[jt]s|json|prisma|sql|ya?ml|md|css|html))`/g,
  );
  // A path on a page is relative to the project, to src, or to the directory of the page.
  const roots = ['', 'src', page.includes('/') ? page.slice(0, page.lastIndexOf('/')) : ''];
  expect(named.filter((path) => !roots.some((root) => existsSync(join(PROJECT, root, path))))).toEqual([]);
});

test('every npm script named in the documents exists', () => {
  const { scripts } = JSON.parse(textOf('package.json'));
  const named = found(DOCUMENTS.map(textOf).join('\n'), /npm run (?:--silent |-s )?([a-z:]+)/g);
  expect(named.length).toBeGreaterThan(8);
  expect(named.filter((name) => !(name in scripts))).toEqual([]);
});

test('the generated settings and diagrams in the guides are up to date', async () => {
  await promisify(execFile)(process.execPath, [join(PROJECT, 'docs', 'generate.mjs'), '--check']);
});

test('every setting is in docs/configuration.md and in .env.example', () => {
  const [settings, example] = [textOf('docs/configuration.md'), textOf('.env.example')];
  const isMissing = (name: string) =>
    !settings.includes(`\`${name}\``) || (name !== 'NODE_ENV' && !example.includes(`${name}=`));
  expect(SETTING_NAMES.length).toBeGreaterThan(10);
  expect(SETTING_NAMES.filter(isMissing)).toEqual([]);
});

test.each([
  ['compose.yaml', /^ {4}([A-Z_]+): /gm],
  ['docs/kubernetes/gateway.yaml', /(?:name: |--from-literal=)([A-Z_]+)\b/g],
  ['Dockerfile', /(?<=^ENV .*)\b([A-Z_]+)=/gm],
])('%s sets only settings that exist', (file, pattern) => {
  const names = found(textOf(file), pattern);
  expect(names.length).toBeGreaterThan(2);
  // A variable of libpq, which node-postgres reads too.
  const known = [...SETTING_NAMES, 'PGPASSWORD'];
  expect(names.filter((name) => !known.includes(name))).toEqual([]);
});

test('every metric is mentioned in a guide', async () => {
  const gateway = await startGateway();
  const { body } = await gateway.app.inject({ url: '/metrics' });
  await gateway.close();
  const served = found(body, /^# TYPE (petstore_\w+)/gm);
  expect(served.length).toBeGreaterThan(10);
  // Some metrics exist only with Redis or workers, so the declarations are checked too.
  const declared = [...metricsOf({} as Observed), ...poolMetrics()].map(({ name }) => `petstore_${name}`);
  expect([...served, ...declared].filter((name) => !EVERYTHING.includes(`\`${name}\``))).toEqual([]);
});

test('docs/limits.md has the quota of every plan', () => {
  const rows = [...textOf('docs/limits.md').matchAll(/^\| ([A-Z]+)[^|]* \| ([\d,]+) \| ([\d,]+) \|$/gm)];
  const number = (text = '') => Number(text.replaceAll(',', ''));
  const shown = rows.map(([, plan, minute, day]) => [plan, { perMinute: number(minute), perDay: number(day) }]);
  expect(Object.fromEntries(shown)).toEqual(PLANS);
});

test('the page /admin offers every plan', () => {
  const names = [...Object.keys(PLANS), 'ENTERPRISE'].map((plan) => `'${plan}'`).join(', ');
  expect(textOf('src/portal/public/admin-dialogs.js')).toContain(`const PLANS = [${names}];`);
});

test('every TypeScript example in the documentation is part of a client that a test runs', () => {
  const directory = join(__dirname, 'clients');
  const names = readdirSync(directory).filter((name) => name.endsWith('.ts'));
  const clients = names.map((name) => readFileSync(join(directory, name), 'utf8')).join('\n');
  // `react-guide.full.test.ts` runs the code of the React guide.
  const shown = PAGES.filter((page) => page !== 'docs/react.md').flatMap((page) => blocksOf(page, 'ts'));
  expect(shown.length).toBeGreaterThan(2);
  expect(shown.filter((code) => !clients.includes(code))).toEqual([]);
});

test('the guide for GraphQL clients shows the operations of its code', () => {
  const operations = readFileSync(join(__dirname, 'clients', 'operations.graphql'), 'utf8');
  expect(blocksOf('docs/graphql-clients.md', 'graphql')).toContain(operations);
});
