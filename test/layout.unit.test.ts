import { readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join, relative } from 'node:path';
import { readSource, type SourceFile } from './helper/imports';

/** The layers of src from top to bottom, with the directories in each. A file directly in src counts as a directory. */
const FLOORS = [
  ['main', 'seed', 'dump', 'restore', 'keys', 'print-schema'],
  ['processes'],
  ['app', 'cli', 'environment'],
  ['composition'],
  ['config', 'http'],
  ['pages'],
  ['rest', 'federation'],
  ['schema'],
  ['graphql'],
  ['cost'],
  ['errors'],
  ['access', 'usage'],
  ['samples', 'domain', 'rate-limit', 'events'],
  ['reading'],
  ['database', 'redis'],
  ['postgres'],
];

/** Imported by process entry points only. */
const READ_THE_ENVIRONMENT = ['environment'];

/** Plain constants, without the client. */
const CONSTANTS = ['src/database/generated/enums', 'src/database/generated/columns'];

const PROJECT = join(__dirname, '..');
const SOURCES = readdirSync(join(PROJECT, 'src'), { recursive: true, withFileTypes: true })
  .map((entry) => relative(PROJECT, join(entry.parentPath, entry.name)))
  .filter((path) => path.endsWith('.ts') && !path.includes('/generated/'))
  .map((path) => readSource(path, readFileSync(join(PROJECT, path), 'utf8')));

describe('the layout of src', () => {
  test('assigns every directory to a layer', () => {
    const rooms = new Set(SOURCES.map(({ path }) => roomOf(path)));
    expect([...rooms].filter((room) => floorOf(room) === -1)).toEqual([]);
    expect(SOURCES.length).toBeGreaterThan(50);
  });

  test('names every directory in docs/architecture.md', () => {
    const page = readFileSync(join(PROJECT, 'docs', 'architecture.md'), 'utf8');
    const named = [...page.matchAll(/^\| (`[^|]*) \|/gm)].map(([, cell]) => cell).join(' ');
    const directories = SOURCES.map(({ path }) => path.split('/')).filter(({ length }) => length > 2);
    const rooms = new Set(directories.map(([, room]) => room));
    expect([...rooms].filter((room) => !new RegExp(`\\b${room}/`).test(named))).toEqual([]);
  });

  test('only lets imports go down', () => {
    expect(SOURCES.flatMap(upwardImports)).toEqual([]);
  });

  test('has no circular imports', () => {
    expect(circles(SOURCES)).toEqual([]);
  });

  test('lets only one file read the environment', () => {
    const readers = SOURCES.filter((file) => file.readsEnvironment).map(({ path }) => roomOf(path));
    expect(readers.filter((room) => !READ_THE_ENVIRONMENT.includes(room))).toEqual([]);
    expect(readers).toEqual(['environment']);
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
  for (const path of ['config', 'environment', 'processes/ending', 'processes/primary']) walk(`src/${path}`);
  expect([...packages].sort()).toEqual(['pg-connection-string', 'pino', 'prom-client']);
});

/** `domain` of `src/domain/cursor`, `main` of `src/main`. */
function roomOf(path: string): string {
  return (path.split('/')[1] ?? '').replace(/\.ts$/, '');
}

function floorOf(room: string): number {
  return FLOORS.findIndex((rooms) => rooms.includes(room));
}

function upwardImports({ path, imports }: SourceFile): string[] {
  const room = roomOf(path);
  return imports
    .filter(({ from }) => from.startsWith('src/'))
    .filter(({ from }) => roomOf(from) !== room && floorOf(roomOf(from)) <= floorOf(room))
    .map(({ from }) => `${path} imports ${from}`);
}

function prismaImports({ path, imports }: SourceFile): string[] {
  if (roomOf(path) === 'database') return [];
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
