import { readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join, relative } from 'node:path';
import { type Import, readSource } from './imports';

const PROJECT = join(__dirname, '..', '..');
const read = (path: string) => readFileSync(join(PROJECT, path), 'utf8');

interface Manifest {
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
  overrides: Record<string, string | Record<string, string>>;
  scripts: Record<string, string>;
  allowScripts: Record<string, boolean>;
}

interface Locked {
  resolved?: string;
  integrity?: string;
  hasInstallScript?: boolean;
}

const { dependencies, devDependencies, overrides, scripts, allowScripts }: Manifest = JSON.parse(read('package.json'));
const BENCH: Manifest = JSON.parse(read('bench/package.json'));
const DECLARED = { ...dependencies, ...devDependencies };

/** Packages that no file imports, with their commands. Scripts in package.json run these commands. */
const COMMANDS: Record<string, string> = {
  '@biomejs/biome': 'biome',
  jest: 'jest',
};
/** Packages that only the generated Prisma client imports. */
const UNSEEN = ['@prisma/client'];

/** Every source, script and test with its imports. */
const FILES = ['src', 'test', 'bench', 'prisma', 'docs']
  .flatMap((directory) =>
    readdirSync(join(PROJECT, directory), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(PROJECT, join(entry.parentPath, entry.name))),
  )
  .concat('build.cjs', 'jest.config.cjs')
  .filter((path) => /\.[cm]?[jt]s$/.test(path) && !/node_modules|\/(generated|public|vendor)\//.test(path))
  .map((path) => ({ ...readSource(path, read(path)), text: read(path) }));

/** The packages and versions in an entry of `overrides`. An entry may hold overrides for the dependencies of one package. */
function flat([name, version]: [string, string | Record<string, string>]): [string, string][] {
  return typeof version === 'string' ? [[name, version]] : Object.entries(version);
}

/** The package of an import: `@scope/name` for `@scope/name/file`. */
function packageOf(specifier: string): string {
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
}

function packagesOf(imports: readonly Import[]): string[] {
  return imports
    .map(({ from }) => from)
    .filter(
      (from) => !/^(src|test|bench|prisma|dist)\/|^[./]|^(package\.json|build\.cjs)$/.test(from) && !isBuiltin(from),
    )
    .map(packageOf);
}

test('every imported package is declared, and packages that src imports at run time are in dependencies', () => {
  const undeclared = FILES.flatMap(({ path, imports }) => {
    const others = path.startsWith('bench/')
      ? { ...DECLARED, ...BENCH.dependencies, ...BENCH.devDependencies }
      : DECLARED;
    const known = path.startsWith('src/') ? dependencies : others;
    const needed = path.startsWith('src/') ? imports.filter(({ typeOnly }) => !typeOnly) : imports;
    const missing = [
      ...packagesOf(needed).filter((name) => !(name in known)),
      ...packagesOf(imports).filter((name) => !(name in { ...known, ...DECLARED })),
    ];
    return missing.map((name) => `${path} imports ${name}`);
  });
  expect(undeclared).toEqual([]);
});

test('every declared package is used', () => {
  const imported = new Set(FILES.flatMap(({ imports }) => packagesOf(imports)));
  const isNamed = (name: string) => FILES.some(({ text }) => new RegExp(`['"\`]${name}(/[^'"\`]*)?['"\`]`).test(text));
  const isUsed = (name: string): boolean => {
    const command = COMMANDS[name];
    if (command) return Object.values(scripts).some((script) => script.split(/\s/).includes(command));
    if (name.startsWith('@types/')) {
      const typed = name.slice('@types/'.length);
      return typed === 'node' || COMMANDS[typed] !== undefined || imported.has(typed);
    }
    return UNSEEN.includes(name) || isNamed(name);
  };
  expect(Object.keys(DECLARED).filter((name) => !isUsed(name))).toEqual([]);
});

test('docs/dependencies.md says what each dependency is for, and lists no other packages', () => {
  const [, table = ''] = /## What each dependency is for\n([\s\S]*?)\n## /.exec(read('docs/dependencies.md')) ?? [];
  const named = [...table.matchAll(/^\| (`.*?) +\| (.+?) +\|$/gm)].flatMap(([, names = '']) =>
    [...names.matchAll(/`([^`]+)`/g)].map(([, name]) => name),
  );
  expect(named.sort()).toEqual(Object.keys(DECLARED).sort());
});

test('docs/dependencies.md says why each version is overridden', () => {
  const [, table = ''] = /## Versions that are held back\n([\s\S]*)/.exec(read('docs/dependencies.md')) ?? [];
  const overridden = Object.entries(overrides).flatMap((entry) => flat(entry).map(([name]) => name));
  expect(overridden.filter((name) => !table.includes(`\`${name}\``))).toEqual([]);
});

test.each([
  ['the project', 'package-lock.json', { ...DECLARED, ...overrides }],
  ['the benchmark', 'bench/package-lock.json', { ...BENCH.dependencies, ...BENCH.devDependencies, ...BENCH.overrides }],
])('%s pins exact versions of its direct dependencies, and locks all packages by hash', (_what, path, declared) => {
  const { packages }: { packages: Record<string, Locked> } = JSON.parse(read(path));
  const locked = Object.entries(packages).filter(([name]) => name !== '');
  expect(locked.length).toBeGreaterThan(10);
  expect(
    Object.entries(declared)
      .flatMap(flat)
      .filter(([, version]) => !/^((npm:\S+@)?\d+\.\d+\.\d+(-[\w.]+)?|\$.+)$/.test(version)),
  ).toEqual([]);
  expect(locked.filter(([, { integrity }]) => !integrity?.startsWith('sha512-'))).toEqual([]);
  // Without a URL in the lock file, users can install from their own registry. The hash still verifies each package.
  expect(locked.filter(([, { resolved }]) => resolved)).toEqual([]);
});

test('the image is built without install scripts', () => {
  const commands = read('Dockerfile').match(/\bnpm (ci|install|uninstall|update|rebuild)\b.*$/gm) ?? [];
  expect(commands.length).toBeGreaterThan(1);
  expect(commands.filter((command) => !command.includes(' --ignore-scripts'))).toEqual([]);
});

test('no package may run an install script', () => {
  const { packages }: { packages: Record<string, Locked> } = JSON.parse(read('package-lock.json'));
  const wanting = Object.entries(packages)
    .filter(([name, { hasInstallScript }]) => name !== '' && hasInstallScript)
    .map(([name]) => name.replace(/^.*node_modules\//, ''));
  expect(allowScripts).toEqual(Object.fromEntries(wanting.map((name) => [name, false])));
});
