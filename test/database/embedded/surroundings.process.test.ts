import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, cpSync, mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT } from '../../helper/command';
import { makeDirectory } from '../../helper/installation';
import { GatewayProcess, MAIN, Program } from '../../helper/process';

let directory: string;
beforeEach(() => {
  directory = makeDirectory();
});
afterEach(() => rmSync(directory, { recursive: true }));

/** Links everything in a directory, except the entries that are copied. */
function link(from: string, to: string, copied: readonly string[] = []): void {
  mkdirSync(to, { recursive: true });
  for (const name of readdirSync(from)) if (!copied.includes(name)) symlinkSync(join(from, name), join(to, name));
}

test('the gateway and its commands run from a checkout below a path with #, ? and %', async () => {
  const checkout = join(directory, 'a#b?c%41');
  const packages = join(PROJECT, 'node_modules');
  link(PROJECT, checkout, ['node_modules', 'dist', 'src', '.git']);
  cpSync(join(PROJECT, 'dist'), join(checkout, 'dist'), { recursive: true });
  symlinkSync(join(PROJECT, 'src'), join(checkout, 'src'));
  link(packages, join(checkout, 'node_modules'), ['@electric-sql', '.cache']);
  cpSync(join(packages, '@electric-sql'), join(checkout, 'node_modules', '@electric-sql'), { recursive: true });
  const environment = { DATA_DIR: join(checkout, 'data#1') };
  const command = (name: string) => [process.execPath, join(checkout, 'dist', name)] as const;
  const gateway = await GatewayProcess.start(environment, command('main.js'));
  expect((await fetch(`${gateway.url}/pets`, { headers: { connection: 'close' } })).status).toBe(200);
  expect(await gateway.stop()).toMatchObject({ code: 0, stderr: '' });
  const { code, stdout } = await new Program(command('app/dump.js'), environment).ended;
  expect([code, stdout]).toEqual([0, expect.stringContaining('CREATE TABLE public.pets')]);
});

test.each([4_000_000, 8_000_000])(
  'with %d KiB of virtual memory, the start fails with one line that says so',
  async (limit) => {
    const limited = ['/bin/sh', '-c', `ulimit -v ${limit}; exec "$@"`, 'sh', ...MAIN] as const;
    const { code, stderr } = await new GatewayProcess({ PORT: '0', DATA_DIR: join(directory, 'data') }, limited).ended;
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(
        /^petstore-gateway: .*WebAssembly.*virtual memory is too low: run ulimit -v unlimited\..*\n$/,
      ),
    ]);
  },
);

const NOBODY = 65534;
const AS_NOBODY = ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'] as const;
const [SETPRIV, ...OPTIONS] = AS_NOBODY;
/** Only root can become another user, who must be able to read the gateway. */
const isPermitted = spawnSync(SETPRIV, [...OPTIONS, process.execPath, '--check', String(MAIN.at(-1))]).status === 0;
const asNobody = isPermitted ? test : test.skip;

asNobody.each([
  ['the database', ['postgres']],
  ['a lock', ['lock.1']],
  ['both', ['postgres', 'lock.1']],
] as const)(
  'in a writable DATA_DIR in which %s cannot be read, the start fails with one line that names DATA_DIR and the remedy',
  async (_what, unreadable) => {
    const data = join(directory, 'data');
    chmodSync(directory, 0o755);
    mkdirSync(data, { mode: 0o700 });
    chownSync(data, NOBODY, NOBODY);
    for (const name of unreadable) mkdirSync(join(data, name), { mode: 0o700 });
    const { code, stdout, stderr } = await new GatewayProcess({ PORT: '0', DATA_DIR: data }, [...AS_NOBODY, ...MAIN])
      .ended;
    expect([code, stdout, stderr]).toEqual([
      1,
      '',
      expect.stringMatching(
        /^petstore-gateway: DATA_DIR \S+ cannot be used: EACCES: [^\n]+\. Set DATA_DIR to a directory that [^\n]+\.\n$/,
      ),
    ]);
  },
);
