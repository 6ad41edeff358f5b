import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { lockDirectory } from '../../src/database/embedded/directory-lock';
import { runTypeScript } from '../helper/child';
import { PROJECT, TYPESCRIPT } from '../helper/command';
import { makeDirectory } from '../helper/installation';

interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

async function run(args: readonly string[], options: { cwd?: string; env?: Record<string, string> } = {}) {
  const { cwd, env } = options;
  const child = spawn(process.execPath, args, { cwd, env: { PATH: process.env.PATH ?? '', ...env } });
  const ended: Ended = { code: null, stdout: '', stderr: '' };
  child.stdout.on('data', (data) => {
    ended.stdout += data;
  });
  child.stderr.on('data', (data) => {
    ended.stderr += data;
  });
  [ended.code] = await once(child, 'close');
  return ended;
}

let directory: string;
beforeEach(() => {
  directory = makeDirectory();
});
afterEach(() => rmSync(directory, { recursive: true }));

describe('before anything is compiled', () => {
  const prestart = (version: string) =>
    run(['-r', join(PROJECT, 'test/helper/old-node.cjs'), join(PROJECT, 'src/app/prestart.cjs')], {
      env: { OLD_NODE: version },
    });

  test.each(['12.22.12', '18.20.8', '20.18.3'])('Node %s is refused in one line', async (version) => {
    expect(await prestart(version)).toEqual({
      code: 1,
      stdout: '',
      stderr: `petstore-gateway: Node ${version} is too old: 20.19.0 or later is needed (https://nodejs.org).\n`,
    });
  });

  test.each(['20.19.0', '20.20.2', '22.1.0', '100.0.0'])('Node %s is not', async (version) => {
    expect(await prestart(version)).toMatchObject({ code: 0, stderr: '' });
  });

  test('each command that compiles asks for the version first', () => {
    const { scripts } = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8'));
    for (const name of ['prestart', 'preseed', 'predump', 'prerestore', 'prekeys'])
      expect(scripts[name]).toMatch(/^\(?node src\/prestart\.cjs && /);
  });

  test('a first start says that it takes a while, and a later one does not; what an install has not generated, it does', async () => {
    const put = (name: string, text: string) => {
      mkdirSync(dirname(join(directory, name)), { recursive: true });
      writeFileSync(join(directory, name), text);
    };
    put('package.json', '{ "engines": { "node": ">=20.19.0" } }');
    put('src/app/prestart.cjs', readFileSync(join(PROJECT, 'src/app/prestart.cjs'), 'utf8'));
    put('prisma/generate.mjs', "process.stderr.write('generating fails\\n'); process.exit(1);");
    const start = () => run([join(directory, 'src/app/prestart.cjs')]);
    const stdout = 'Compiling: the first start takes a while …\n';
    const stderr =
      'generating fails\npetstore-gateway: the Prisma client could not be generated: node prisma/generate.mjs\n';
    expect(await start()).toEqual({ code: 1, stdout, stderr });
    put('prisma/generate.mjs', "process.stdout.write('generating\\n')");
    expect(await start()).toEqual({ code: 0, stdout: `${stdout}generating\n`, stderr: '' });
    put('src/database/generated/client.ts', '');
    expect(await start()).toEqual({ code: 0, stdout, stderr: '' });
    put('dist/main.js', '');
    expect(await start()).toEqual({ code: 0, stdout: '', stderr: '' });
  });
});

test('names in .env that look like settings are warned of, others are not', async () => {
  writeFileSync(
    join(directory, '.env'),
    ['REDIS_URI=redis://127.0.0.1', 'ADMIN_APIKEY=x', 'EDITOR=vi', 'PETSTORE_URL=http://127.0.0.1:1', 'PORT=x'].join(
      '\n',
    ),
  );
  const [, ...options] = TYPESCRIPT;
  const { code, stderr } = await run([...options, join(PROJECT, 'src/main.ts')], { cwd: directory });
  expect({ code, lines: stderr.trim().split('\n') }).toEqual({
    code: 1,
    lines: [
      'petstore-gateway: .env sets ADMIN_APIKEY, which is not a setting. Did you mean ADMIN_API_KEY?',
      'petstore-gateway: .env sets REDIS_URI, which is not a setting. Did you mean REDIS_URL?',
      'petstore-gateway: PORT must be an integer from 0 to 65535, not "x"',
    ],
  });
});

test('seed beside a gateway that has the embedded database open says what to do', async () => {
  const unlock = lockDirectory(directory);
  const { code, stderr } = await runTypeScript('src/app/seed.ts', ['--pets', '3'], { DATA_DIR: directory }).end();
  unlock();
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /^seed: \S+ is in use by process \d+\. Stop the gateway \(Ctrl\+C\), run this again, and start it again: its data stay\.\n$/,
  );
});
