import { readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join, relative } from 'node:path';
import { readSource } from './imports';

const PROJECT = join(__dirname, '..', '..');
const read = (path: string) => readFileSync(join(PROJECT, path), 'utf8');

/** The module of a file: `rest` for `src/rest/adapter`, `main` for `src/main`. */
const moduleOf = (path: string) => (path.split('/')[1] ?? '').replace(/\.ts$/, '');

/** The modules of the domains: `petstore` and `access`. */
const DOMAINS = readSource('src/app/domains.ts', read('src/app/domains.ts'))
  .imports.map(({ from }) => moduleOf(from))
  .filter((module) => module !== 'domain');

/** The modules of src from top to bottom. A module imports only from itself and from lower levels (docs/architecture.md). */
const LEVELS = [
  ['main'],
  ['app'],
  [...DOMAINS, 'portal'],
  ['http', 'domain'],
  ['rest'],
  ['graphql'],
  ['rate-limit', 'events'],
  ['errors'],
  ['database', 'redis'],
];

/** Generated files that any module may import, because they have only constants and not the Prisma client. */
const CONSTANTS = ['src/database/generated/enums', 'src/database/generated/columns'];

const SOURCES = readdirSync(join(PROJECT, 'src'), { recursive: true, withFileTypes: true })
  .map((entry) => relative(PROJECT, join(entry.parentPath, entry.name)))
  .filter((path) => path.endsWith('.ts') && !/\/(generated|public)\//.test(path))
  .map((path) => ({ ...readSource(path, read(path)), text: read(path) }));

const levelOf = (path: string) => LEVELS.findIndex((modules) => modules.includes(moduleOf(path)));

/** The imports for which `isFound` returns true, each as text: `path imports from`. */
const importsWhere = (isFound: (path: string, from: string, typeOnly: boolean) => boolean) =>
  SOURCES.flatMap(({ path, imports }) =>
    imports.filter(({ from, typeOnly }) => isFound(path, from, typeOnly)).map(({ from }) => `${path} imports ${from}`),
  );

/** The occurrences of a pattern in the sources, as `path: text`. */
const placesOf = (pattern: RegExp) =>
  SOURCES.flatMap(({ path, text }) => (text.match(pattern) ?? []).map((found) => `${path}: ${found}`));

describe('the layout of src', () => {
  test('assigns every file to a module with a level', () => {
    expect(SOURCES.length).toBeGreaterThan(50);
    expect(SOURCES.map(({ path }) => path).filter((path) => levelOf(path) === -1)).toEqual([]);
  });

  test('has only modules that docs/architecture.md describes', () => {
    const cells = [...read('docs/architecture.md').matchAll(/^\| (`[^|]*) \|/gm)].map(([, cell]) => cell).join(' ');
    expect(LEVELS.flat().filter((module) => module !== 'main' && !cells.includes(`${module}/`))).toEqual([]);
  });

  test('allows imports only from lower levels', () => {
    const isUpward = (path: string, from: string) =>
      from.startsWith('src/') &&
      !from.startsWith('src/database/generated/') &&
      moduleOf(from) !== moduleOf(path) &&
      levelOf(from) <= levelOf(path);
    expect(importsWhere(isUpward)).toEqual([]);
  });

  test('has no circular imports', () => {
    const next = new Map(SOURCES.map(({ path, imports }) => [path.replace(/\.ts$/, ''), imports]));
    const cycles: string[] = [];
    const done = new Set<string>();
    const walk = (file: string, way: readonly string[]): void => {
      if (way.includes(file)) cycles.push([...way.slice(way.indexOf(file)), file].join(' → '));
      if (way.includes(file) || done.has(file)) return;
      for (const { from } of next.get(file) ?? []) walk(from, [...way, file]);
      done.add(file);
    };
    for (const file of next.keys()) walk(file, []);
    expect(cycles).toEqual([]);
  });

  test('allows only one file to read the environment, and only database/ to import Prisma', () => {
    const readers = SOURCES.filter(({ readsEnvironment }) => readsEnvironment).map(({ path }) => path);
    expect(readers).toEqual(['src/app/environment.ts']);
    const isPrisma = (path: string, from: string, typeOnly: boolean) =>
      !typeOnly &&
      moduleOf(path) !== 'database' &&
      !CONSTANTS.includes(from) &&
      /prisma|^src\/database\/gen/.test(from);
    expect(importsWhere(isPrisma)).toEqual([]);
  });

  test('lets the process that supervises workers load only three packages', () => {
    const packages = new Set<string>();
    const seen = new Set<string>();
    const walk = (path: string): void => {
      if (seen.has(path)) return;
      seen.add(path);
      for (const { from, typeOnly } of SOURCES.find((file) => file.path === `${path}.ts`)?.imports ?? []) {
        if (typeOnly) continue;
        if (from.startsWith('src/')) walk(from);
        else if (!isBuiltin(from)) packages.add(from);
      }
    };
    for (const path of ['config', 'environment', 'shutdown', 'primary']) walk(`src/app/${path}`);
    expect([...packages].sort()).toEqual(['pg-connection-string', 'pino', 'prom-client']);
  });
});

describe('third-party packages', () => {
  test('are imported through their public entry points, not through internal files', () => {
    expect(placesOf(/'(graphql|type-graphql|fastify|pg|graphql-ws|ws|dataloader|ioredis)\/[^']*'/g)).toEqual([]);
    expect(placesOf(/'[^'.][^']*\/(dist|lib|build|internal|src)\/[^']*'/g)).toEqual([]);
  });

  test("are used without setting a prototype, and type-graphql's metadata is read in two modules only", () => {
    expect(placesOf(/setPrototypeOf/g)).toEqual([]);
    const readers = SOURCES.filter(({ text }) => text.includes('getMetadataStorage')).map(({ path }) => path);
    expect(readers).toEqual(['src/graphql/decorator-faults.ts', 'src/graphql/schema.ts']);
  });

  test('are used without "as any" or "as never", and rarely with "as unknown as"', () => {
    expect(placesOf(/\bas (never|any)\b/g)).toEqual([]);
    expect(placesOf(/\bas unknown as\b/g).length).toBeLessThanOrEqual(10);
  });
});

test('every file of dist that the benchmark loads has a source file', () => {
  const scripts = readdirSync(join(PROJECT, 'bench'), { recursive: true, encoding: 'utf8' }).filter(
    (path) => /\.[cm]js$/.test(path) && !path.includes('node_modules'),
  );
  const loaded = scripts.flatMap((path) => read(`bench/${path}`).match(/(?<=\.\/dist\/)[\w/-]+(?=\.js')/g) ?? []);
  expect(loaded.length).toBeGreaterThan(4);
  expect(loaded.filter((path) => !SOURCES.some((file) => file.path === `src/${path}.ts`))).toEqual([]);
});
