import { readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join, relative } from 'node:path';
import { readSource, type SourceFile } from '../helper/imports';

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

/** Plain constants, without the client. */
const CONSTANTS = ['src/database/generated/enums', 'src/database/generated/columns'];

const PROJECT = join(__dirname, '..', '..');
const SOURCES = readdirSync(join(PROJECT, 'src'), { recursive: true, withFileTypes: true })
  .map((entry) => relative(PROJECT, join(entry.parentPath, entry.name)))
  .filter((path) => path.endsWith('.ts') && !path.includes('/generated/'))
  .map((path) => readSource(path, readFileSync(join(PROJECT, path), 'utf8')));

describe('the layout of src', () => {
  test('assigns every file to a module with a level', () => {
    const modules = new Set(SOURCES.map(({ path }) => moduleOf(path)));
    expect([...modules].filter((module) => levelOf(module) === -1)).toEqual([]);
    expect(SOURCES.length).toBeGreaterThan(50);
  });

  test('only lets imports go down', () => {
    expect(SOURCES.flatMap(upwardImports).sort()).toEqual([...ALLOWED].sort());
  });

  test('has no circular imports', () => {
    expect(circles(SOURCES)).toEqual([]);
  });

  test('lets only one file read the environment', () => {
    const readers = SOURCES.filter((file) => file.readsEnvironment).map(({ path }) => path);
    expect(readers).toEqual(['src/app/environment.ts']);
  });

  test('keeps Prisma in database/', () => {
    expect(SOURCES.flatMap(prismaImports)).toEqual([]);
  });
});

test('the process that only supervises workers loads almost nothing', () => {
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

/** `rest` of `src/rest/adapter`, `main` of `src/main`. */
function moduleOf(path: string): string {
  return (path.split('/')[1] ?? '').replace(/\.ts$/, '');
}

function levelOf(module: string): number {
  return LEVELS.findIndex((modules) => modules.includes(module));
}

/** Types of Prisma's generated client may be imported everywhere. */
function upwardImports({ path, imports }: SourceFile): string[] {
  const module = moduleOf(path);
  return imports
    .filter(({ from }) => from.startsWith('src/') && !from.startsWith('src/database/generated/'))
    .filter(({ from }) => moduleOf(from) !== module && levelOf(moduleOf(from)) <= levelOf(module))
    .map(({ from }) => `${path} imports ${from}`);
}

function prismaImports({ path, imports }: SourceFile): string[] {
  if (moduleOf(path) === 'database') return [];
  return imports
    .filter(({ from, typeOnly }) => !typeOnly && !CONSTANTS.includes(from))
    .filter(({ from }) => /prisma/.test(from) || from.startsWith('src/database/generated/'))
    .map(({ from }) => `${path} imports ${from}`);
}

/** Every cycle, once, as the list of its files. */
function circles(files: readonly SourceFile[]): string[] {
  const next = new Map(files.map(({ path, imports }) => [path.replace(/\.ts$/, ''), imports.map(({ from }) => from)]));
  const found: string[] = [];
  const done = new Set<string>();
  const walk = (file: string, way: readonly string[]): void => {
    if (way.includes(file)) found.push([...way.slice(way.indexOf(file)), file].join(' → '));
    if (way.includes(file) || done.has(file)) return;
    for (const imported of next.get(file) ?? []) walk(imported, [...way, file]);
    done.add(file);
  };
  for (const file of next.keys()) walk(file, []);
  return found;
}
