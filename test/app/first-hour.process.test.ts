import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { PROJECT } from '../helper/command';
import { makeDirectory } from '../helper/installation';

/** Runs Node and waits until it ends. */
async function run(args: readonly string[], options: { cwd?: string; env?: Record<string, string> } = {}) {
  const env = { PATH: process.env.PATH ?? '', ...options.env };
  const child = spawn(process.execPath, args, { ...options, env });
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code, stdout, stderr };
}

let directory: string;
beforeEach(() => {
  directory = makeDirectory();
});
afterEach(() => rmSync(directory, { recursive: true }));

function put(name: string, content: string): void {
  mkdirSync(dirname(join(directory, name)), { recursive: true });
  writeFileSync(join(directory, name), content);
}

describe('before anything is compiled', () => {
  test.each([
    ...[['12.22.12', false] as const, ['18.20.8', false] as const, ['20.18.3', false] as const],
    ...[['20.19.0', true] as const, ['22.1.0', true] as const, ['100.0.0', true] as const],
  ])('the version check accepts Node %s: %s; a rejection is a one-line error', async (version, isAccepted) => {
    put(
      'version.cjs',
      `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } });`,
    );
    const { code, stderr } = await run(['-r', join(directory, 'version.cjs'), join(PROJECT, 'src/app/prestart.cjs')]);
    const rejection = `petstore-gateway: Node ${version} is too old: 20.19.0 or later is needed (https://nodejs.org).\n`;
    expect([code, stderr]).toEqual(isAccepted ? [0, ''] : [1, rejection]);
  });

  test('each command that compiles checks the Node version first', () => {
    const { scripts } = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8'));
    for (const name of ['prestart', 'preseed', 'predump', 'prerestore', 'prekeys'])
      expect(scripts[name]).toMatch(/^node src\/app\/prestart\.cjs( |$)/);
  });
});

/** A project with the files that compile it, but no packages. */
function putProject(): void {
  put('package.json', '{ "engines": { "node": ">=20.19.0" } }');
  for (const name of ['src/app/prestart.cjs', 'build.cjs', 'prisma/generate.mjs'])
    put(name, readFileSync(join(PROJECT, name), 'utf8'));
}

const start = () => run([join(directory, 'src/app/prestart.cjs')]);

test('a start generates a missing Prisma client and compiles; the first start prints that it takes a few seconds', async () => {
  putProject();
  const compileWith = (body: string) =>
    put('build.cjs', `exports.hasCompiler = () => true; exports.build = async () => { ${body} };`);
  compileWith("process.stdout.write('compiling\\n')");
  put('prisma/generate.mjs', "process.stderr.write('generating fails\\n'); process.exit(1);");
  const stdout = 'The first start takes a few seconds …\n';
  const failure = 'petstore-gateway: node prisma/generate.mjs could not generate the Prisma client\n';
  expect(await start()).toEqual({ code: 1, stdout, stderr: `generating fails\n${failure}` });
  put('prisma/generate.mjs', "process.stdout.write('generating\\n')");
  expect(await start()).toEqual({ code: 0, stdout: `${stdout}generating\ncompiling\n`, stderr: '' });
  put('src/database/generated/client.ts', '');
  put('dist/main.js', '');
  expect(await start()).toEqual({ code: 0, stdout: 'compiling\n', stderr: '' });
  compileWith("throw new Error('cannot be compiled')");
  expect(await start()).toEqual({ code: 1, stdout: '', stderr: 'petstore-gateway: cannot be compiled\n' });
});

test('a start compiles if a source has changed, was added or removed, or the build is gone', async () => {
  putProject();
  put('src/database/generated/client.ts', '');
  put('src/main.ts', '');
  put(
    'node_modules/@swc/core/index.js',
    "exports.transformFile = async (file) => { process.stdout.write('.'); return { code: '', map: '{}' }; };",
  );
  const compiled = async () => {
    const { code, stdout, stderr } = await start();
    expect([code, stderr]).toEqual([0, '']);
    return stdout.replace(/^The first start.*\n/, '').length;
  };
  expect([await compiled(), await compiled()]).toEqual([2, 0]);
  put('src/main.ts', '1');
  expect([await compiled(), await compiled()]).toEqual([2, 0]);
  put('src/other.ts', '');
  expect([await compiled(), await compiled()]).toEqual([3, 0]);
  rmSync(join(directory, 'src/other.ts'));
  expect([await compiled(), await compiled()]).toEqual([2, 0]);
  rmSync(join(directory, 'dist/main.js'));
  expect([await compiled(), await compiled()]).toEqual([2, 0]);
});

describe('without the development packages', () => {
  beforeEach(putProject);

  test('a start runs an existing build, or fails with a one-line error', async () => {
    const missing = 'the development packages, which compile the gateway, are not installed: run npm ci --include=dev';
    expect(await start()).toEqual({ code: 1, stdout: '', stderr: `petstore-gateway: ${missing}\n` });
    put('dist/main.js', '');
    expect(await start()).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  test.each([
    ['npm ci --omit=dev', 'postinstall', 0],
    ['npm run build', 'build', 1],
  ])('%s generates nothing and says so in one line', async (_command, event, code) => {
    const env = { npm_lifecycle_event: event };
    const stderr =
      'petstore-gateway: nothing was generated, because only npm ci --include=dev installs what compiling needs\n';
    expect(await run([join(directory, 'prisma/generate.mjs')], { env })).toEqual({ code, stdout: '', stderr });
  });
});
