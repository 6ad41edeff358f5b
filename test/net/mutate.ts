/**
 * Applies each patch of test/net/mutations to a copy of the product, one after another. After each patch, it replays the
 * regression net (`run.ts`), which must find a difference. A patch begins with a text about the behaviour that it breaks,
 * and a line `Detected by: <scenario>, <embedded|postgres>`.
 *
 *   npm run net:mutations             # all patches; exits with 1 if a patch is not detected
 *   npm run net:mutations -- locks    # only patches whose file name contains `locks`
 *   npm run net:mutations -- --tests  # runs `npm test` instead of the net
 */
import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PROJECT = join(__dirname, '..', '..');
const PATCHES = join(__dirname, 'mutations');

const names = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const byTests = process.argv.includes('--tests');

/** Copies the working tree with the build, and links the installed packages. @returns the directory of the copy. */
function copy(): string {
  const directory = mkdtempSync(join(tmpdir(), 'petstore-mutation-'));
  const left = ['.git', 'data', 'node_modules'].map((name) => join(PROJECT, name));
  cpSync(PROJECT, directory, { recursive: true, filter: (path) => !left.includes(path) });
  symlinkSync(join(PROJECT, 'node_modules'), join(directory, 'node_modules'));
  return directory;
}

function run(directory: string, command: string, ...args: string[]): SpawnSyncReturns<string> {
  return spawnSync(command, args, { cwd: directory, encoding: 'utf8', maxBuffer: 2 ** 28 });
}

function apply(directory: string, patch: string, ...flags: string[]): void {
  const { status, stderr } = run(directory, 'git', 'apply', ...flags, join(PATCHES, patch));
  if (status !== 0) throw new Error(`${patch} does not apply: ${stderr}`);
}

/** @returns the tests or scenarios that detect the mutation; empty if none does. */
function noticedBy(directory: string, patch: string): string {
  if (byTests) {
    const { stdout, stderr } = run(directory, 'npx', 'jest', '--silent', '--bail');
    return [...`${stdout}${stderr}`.matchAll(/^FAIL \w+ (\S+)/gm)].map(([, file]) => file).join(', ');
  }
  const [, scenario = '', database = ''] =
    /^Detected by: (.+), (embedded|postgres)$/m.exec(readFileSync(join(PATCHES, patch), 'utf8')) ?? [];
  for (const args of [[scenario, `--${database}`], ['--bail']]) {
    const net = ['-r', './test/helper/typescript.cjs', 'test/net/run.ts'];
    const { status, stdout, stderr } = run(directory, process.execPath, ...net, ...args);
    if (status !== 0 && status !== 1) throw new Error(`The net could not be replayed: ${stdout}${stderr}`);
    const found = [...`${stdout}${stderr}`.matchAll(/^######## (?:Error: )?(.+)$/gm)].map(([, where]) => where);
    if (found.length) return [...new Set(found)].join('; ');
  }
  return '';
}

let missed = 0;
const directory = copy();
try {
  const patches = readdirSync(PATCHES).filter((name) => !names.length || names.some((part) => name.includes(part)));
  for (const patch of patches) {
    apply(directory, patch);
    const { stdout } = run(directory, 'npx', 'tsc', '-b');
    const noticed = stdout.includes('error TS') ? '' : noticedBy(directory, patch);
    if (!noticed) missed++;
    console.log(`${noticed ? 'detected' : 'MISSED  '}  ${patch}: ${noticed || stdout}`);
    apply(directory, patch, '--reverse');
  }
  console.log(
    missed ? `${missed} of ${patches.length} mutations were missed.` : `All ${patches.length} were detected.`,
  );
} finally {
  rmSync(directory, { recursive: true, force: true });
}
process.exit(missed ? 1 : 0);
