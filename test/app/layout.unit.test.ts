import { readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join, relative } from 'node:path';
import { readSource } from '../helper/imports';

/** The modules of src from top to bottom. A module imports only itself and modules of lower levels (docs/architecture.md). */
const LEVELS = [
  ['main'],
  ['app'],
  ['petstore', 'access', 'portal'],
  ['http'],
  ['rest'],
  ['graphql'],
  ['rate-limit', 'events'],
  ['errors'],
  ['database', 'redis'],
];

/** Imports that still break the order. Remove lines; add none. */
const ALLOWED: readonly string[] = [
  'src/access/api-key-resolver.ts imports src/petstore/payloads',
  'src/access/api-key.ts imports src/petstore/enum-types',
  'src/access/api-keys.ts imports src/petstore/enum-types',
  'src/access/rate-limit.ts imports src/petstore/enum-types',
  'src/database/changes.ts imports src/petstore/rows',
  'src/database/reading/select-page.ts imports src/petstore/rows',
  'src/events/redis-relay.ts imports src/petstore/tables',
  'src/graphql/admission.ts imports src/access/caller',
  'src/graphql/connection-types.ts imports src/access/api-key',
  'src/graphql/connection-types.ts imports src/petstore/category',
  'src/graphql/connection-types.ts imports src/petstore/enum-types',
  'src/graphql/connection-types.ts imports src/petstore/inventory-item',
  'src/graphql/connection-types.ts imports src/petstore/order',
  'src/graphql/connection-types.ts imports src/petstore/pet',
  'src/graphql/connection.ts imports src/petstore/rows',
  'src/graphql/context.ts imports src/access/caller',
  'src/graphql/known-documents.ts imports src/access/caller',
  'src/graphql/page-args.ts imports src/petstore/enum-types',
  'src/graphql/page-args.ts imports src/petstore/filters',
  'src/graphql/scalars.ts imports src/access/secret',
  'src/graphql/scalars.ts imports src/petstore/node-id',
  'src/graphql/schema.ts imports src/access/api-key-resolver',
  'src/graphql/schema.ts imports src/access/api-key-service',
  'src/graphql/schema.ts imports src/access/usage-service',
  'src/graphql/schema.ts imports src/access/viewer-resolver',
  'src/graphql/schema.ts imports src/petstore/categories/category-resolver',
  'src/graphql/schema.ts imports src/petstore/change-resolver',
  'src/graphql/schema.ts imports src/petstore/inventory/inventory-resolver',
  'src/graphql/schema.ts imports src/petstore/node-resolver',
  'src/graphql/schema.ts imports src/petstore/orders/order-resolver',
  'src/graphql/schema.ts imports src/petstore/pets/pet-resolver',
  'src/graphql/schema.ts imports src/petstore/services',
  'src/graphql/schema.ts imports src/petstore/typed-rows',
  'src/http/error-handling.ts imports src/portal/page',
  'src/http/graphql-route.ts imports src/portal/page',
  'src/http/live/live-operations.ts imports src/access/key-ring',
  'src/http/live/socket-operation.ts imports src/access/caller',
  'src/http/live/socket-operation.ts imports src/access/key-ring',
  'src/http/live/socket-protocol.ts imports src/access/caller',
  'src/http/local-access.ts imports src/access/caller',
  'src/http/metrics.ts imports src/app/metric-table',
  'src/http/recognition.ts imports src/access/caller',
  'src/http/recognition.ts imports src/access/key-ring',
  'src/http/request-observation.ts imports src/access/caller',
  'src/http/server.ts imports src/petstore/operations',
  'src/http/server.ts imports src/portal/assets',
  'src/http/server.ts imports src/portal/page',
  'src/http/server.ts imports src/portal/routes',
  'src/http/slots.ts imports src/access/caller',
  'src/petstore/operations.ts imports src/access/quota',
  'src/rest/adapter.ts imports src/http/json-body',
  'src/rest/adapter.ts imports src/http/other-methods',
  'src/rest/openapi/paths.ts imports src/http/json-body',
  'src/rest/openapi/printed-openapi.ts imports src/petstore/operations',
  'src/rest/prepared-operation.ts imports src/petstore/enum-types',
];

/** Plain constants, without the Prisma client. */
const CONSTANTS = ['src/database/generated/enums', 'src/database/generated/columns'];

const PROJECT = join(__dirname, '..', '..');
const read = (path: string) => readFileSync(join(PROJECT, path), 'utf8');
const SOURCES = readdirSync(join(PROJECT, 'src'), { recursive: true, withFileTypes: true })
  .map((entry) => relative(PROJECT, join(entry.parentPath, entry.name)))
  .filter((path) => path.endsWith('.ts') && !/\/(generated|public)\//.test(path))
  .map((path) => ({ ...readSource(path, read(path)), text: read(path) }));

/** `rest` of `src/rest/adapter`, `main` of `src/main`. */
const moduleOf = (path: string) => (path.split('/')[1] ?? '').replace(/\.ts$/, '');
const levelOf = (path: string) => LEVELS.findIndex((modules) => modules.includes(moduleOf(path)));

/** Imports that match, as `path imports from`. */
const importsWhere = (isFound: (path: string, from: string, typeOnly: boolean) => boolean) =>
  SOURCES.flatMap(({ path, imports }) =>
    imports.filter(({ from, typeOnly }) => isFound(path, from, typeOnly)).map(({ from }) => `${path} imports ${from}`),
  );

/** Where a pattern occurs, as `path: text`. */
const placesOf = (pattern: RegExp) =>
  SOURCES.flatMap(({ path, text }) => (text.match(pattern) ?? []).map((found) => `${path}: ${found}`));

describe('the layout of src', () => {
  test('assigns every file to a module with a level', () => {
    expect(SOURCES.length).toBeGreaterThan(50);
    expect(SOURCES.map(({ path }) => path).filter((path) => levelOf(path) === -1)).toEqual([]);
  });

  test('lets imports go down only', () => {
    const isUpward = (path: string, from: string) =>
      from.startsWith('src/') &&
      !from.startsWith('src/database/generated/') &&
      moduleOf(from) !== moduleOf(path) &&
      levelOf(from) <= levelOf(path);
    expect(importsWhere(isUpward).sort()).toEqual([...ALLOWED].sort());
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

  test('lets one file read the environment, and keeps Prisma in database/', () => {
    const readers = SOURCES.filter(({ readsEnvironment }) => readsEnvironment).map(({ path }) => path);
    expect(readers).toEqual(['src/app/environment.ts']);
    const isPrisma = (path: string, from: string, typeOnly: boolean) =>
      !typeOnly &&
      moduleOf(path) !== 'database' &&
      !CONSTANTS.includes(from) &&
      /prisma|^src\/database\/gen/.test(from);
    expect(importsWhere(isPrisma)).toEqual([]);
  });

  test('makes the process that supervises workers load almost nothing', () => {
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
    for (const path of ['config', 'environment', 'ending', 'primary']) walk(`src/app/${path}`);
    expect([...packages].sort()).toEqual(['pg-connection-string', 'pino', 'prom-client']);
  });
});

describe('other packages', () => {
  test('are used by their exports, not by their files', () => {
    expect(placesOf(/'(graphql|type-graphql|fastify|pg|graphql-ws|ws|dataloader|ioredis)\/[^']*'/g)).toEqual([]);
    expect(placesOf(/'[^'.][^']*\/(dist|lib|build|internal|src)\/[^']*'/g)).toEqual([]);
  });

  test("are not modified: no prototype is set, and type-graphql's metadata is not read", () => {
    expect(placesOf(/setPrototypeOf|getMetadataStorage/g)).toEqual([]);
  });

  test('are rarely cast to other types', () => {
    expect(placesOf(/\bas (never|any)\b/g)).toEqual([]);
    expect(placesOf(/\bas unknown as\b/g).length).toBeLessThanOrEqual(10);
  });
});

test('the benchmark loads files of the product that exist', () => {
  const scripts = readdirSync(join(PROJECT, 'bench'), { recursive: true, encoding: 'utf8' }).filter(
    (path) => /\.[cm]js$/.test(path) && !path.includes('node_modules'),
  );
  const loaded = scripts.flatMap((path) => read(`bench/${path}`).match(/(?<=\.\/dist\/)[\w/-]+(?=\.js')/g) ?? []);
  expect(loaded.length).toBeGreaterThan(4);
  expect(loaded.filter((path) => !SOURCES.some((file) => file.path === `src/${path}.ts`))).toEqual([]);
});
