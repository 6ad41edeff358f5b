import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';

const PROJECT = join(__dirname, '..');
const FILES = readdirSync(join(PROJECT, 'src'), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
  .map((entry) => relative(PROJECT, join(entry.parentPath, entry.name)))
  .filter((path) => !path.includes('/generated/') && !path.includes('/public/'))
  .map((path) => {
    const text = readFileSync(join(PROJECT, path), 'utf8');
    return { path, text, lines: text.split('\n').length - 1 };
  });

/** The places where a pattern occurs, as `path: text`. */
function places(pattern: RegExp): string[] {
  return FILES.flatMap(({ path, text }) => (text.match(pattern) ?? []).map((found) => `${path}: ${found}`));
}

describe('files', () => {
  test('are at most 200 lines long, half of them at most 60', () => {
    expect(FILES.filter(({ lines }) => lines > 200).map(({ path }) => path)).toEqual([]);
    const sorted = FILES.map(({ lines }) => lines).sort((a, b) => a - b);
    expect(sorted[Math.floor(sorted.length / 2)]).toBeLessThanOrEqual(60);
    expect(sorted.length).toBeGreaterThan(150);
  });

  test('have names of their own', () => {
    const names = FILES.map(({ path }) => basename(path));
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });
});

describe('folders', () => {
  test('show at most a dozen files and folders', () => {
    const entries = new Map<string, Set<string>>();
    for (const { path } of FILES)
      for (let at = path; at !== 'src'; at = dirname(at)) {
        const inside = entries.get(dirname(at)) ?? new Set();
        entries.set(dirname(at), inside.add(at));
      }
    entries.delete('src');
    expect([...entries].filter(([, inside]) => inside.size > 12).map(([folder]) => folder)).toEqual([]);
  });

  test('directly in src hold at most 2,980 lines', () => {
    const rooms = new Map<string, number>();
    for (const { path, lines } of FILES) {
      const room = path.split('/')[1] ?? '';
      rooms.set(room, (rooms.get(room) ?? 0) + lines);
    }
    expect([...rooms].filter(([, lines]) => lines > 2980)).toEqual([]);
  });
});

test('the benchmark loads files of the product that exist', () => {
  const scripts = readdirSync(join(PROJECT, 'bench'), { recursive: true, encoding: 'utf8' }).filter(
    (path) => /\.[cm]js$/.test(path) && !path.includes('node_modules'),
  );
  const loaded = scripts.flatMap(
    (path) => readFileSync(join(PROJECT, 'bench', path), 'utf8').match(/(?<=\.\/dist\/)[\w/-]+(?=\.js')/g) ?? [],
  );
  expect(loaded.length).toBeGreaterThan(4);
  expect(loaded.filter((path) => !FILES.some((file) => file.path === `src/${path}.ts`))).toEqual([]);
});

describe('other packages', () => {
  test('are used by what they export, not by their files', () => {
    const internals = /'(graphql|type-graphql|fastify|pg|graphql-ws|ws|dataloader|ioredis)\/[^']*'/g;
    expect(places(internals)).toEqual([]);
    expect(places(/'[^'.][^']*\/(dist|lib|build|internal|src)\/[^']*'/g)).toEqual([]);
  });

  test("are not bent: no prototypes are set, and type-graphql's metadata is its own", () => {
    expect(places(/setPrototypeOf/g)).toEqual([]);
    expect(places(/getMetadataStorage/g)).toEqual([]);
  });

  test('and types are rarely overruled', () => {
    expect(places(/\bas never\b/g)).toEqual([]);
    expect(places(/\bas any\b/g)).toEqual([]);
    expect(places(/\bas unknown as\b/g).length).toBeLessThanOrEqual(10);
  });
});
