import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const PROJECT = join(__dirname, '..', '..');
const FILES = readdirSync(join(PROJECT, 'src'), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
  .map((entry) => relative(PROJECT, join(entry.parentPath, entry.name)))
  .filter((path) => !path.includes('/generated/') && !path.includes('/public/'))
  .map((path) => ({ path, text: readFileSync(join(PROJECT, path), 'utf8') }));

/** The places where a pattern occurs, as `path: text`. */
function places(pattern: RegExp): string[] {
  return FILES.flatMap(({ path, text }) => (text.match(pattern) ?? []).map((found) => `${path}: ${found}`));
}

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
  test('are used by their exports, not by their files', () => {
    const internals = /'(graphql|type-graphql|fastify|pg|graphql-ws|ws|dataloader|ioredis)\/[^']*'/g;
    expect(places(internals)).toEqual([]);
    expect(places(/'[^'.][^']*\/(dist|lib|build|internal|src)\/[^']*'/g)).toEqual([]);
  });

  test("are not modified: no prototype is set, and type-graphql's metadata is not read", () => {
    expect(places(/setPrototypeOf/g)).toEqual([]);
    expect(places(/getMetadataStorage/g)).toEqual([]);
  });

  test('are rarely cast to other types', () => {
    expect(places(/\bas never\b/g)).toEqual([]);
    expect(places(/\bas any\b/g)).toEqual([]);
    expect(places(/\bas unknown as\b/g).length).toBeLessThanOrEqual(10);
  });
});
