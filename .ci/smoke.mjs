// Starts the built gateway under other versions of Node: `node .ci/smoke.mjs 22 26`. The binaries come from npm.
import { strict as assert } from 'node:assert';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);

const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url));
const PACKAGE = `node-${process.platform}-${process.arch}`;

/** @returns the path of the binary; `undefined` if it cannot be installed. */
async function install(version, directory) {
  const options = ['--prefix', directory, '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error'];
  try {
    await run('npm', ['install', ...options, `${PACKAGE}@${version}`]);
    return join(directory, 'node_modules', PACKAGE, 'bin', 'node');
  } catch {
    return undefined;
  }
}

/** Starts the gateway, reads its banner, writes and reads through both interfaces, and stops the gateway. */
async function check(node, directory) {
  const gateway = spawn(node, [MAIN], {
    cwd: directory,
    env: { PORT: '0', DATA_DIR: join(directory, 'data'), LOG_LEVEL: 'warn' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let banner = '';
  gateway.stdout.setEncoding('utf8').on('data', (text) => {
    banner += text;
  });
  const ended = once(gateway, 'exit');
  try {
    const urlIn = () => /"GraphQL":"(http:[^"]+)\/graphql"/.exec(banner)?.[1];
    for (let waited = 0; !urlIn() && waited < 60_000 && gateway.exitCode === null; waited += 50) await sleep(50);
    const url = urlIn();
    assert.ok(url, `The gateway does not start: ${banner}`);
    const key = JSON.parse(banner.split('\n').find((line) => line.includes('"Admin key"')))['Admin key'];
    const post = (path, body) =>
      fetch(url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': key },
        body: JSON.stringify(body),
      });
    assert.equal((await fetch(`${url}/readyz`)).status, 200);
    assert.equal((await post('/categories', { name: 'Dogs' })).status, 201);
    const mutation = 'mutation { createPet(input: { name: "Rex", categoryId: 1 }) { id category { name } } }';
    const { data } = await (await post('/graphql', { query: mutation })).json();
    assert.deepEqual(data, { createPet: { id: '1', category: { name: 'Dogs' } } });
    const pet = await fetch(`${url}/pets/1`);
    assert.deepEqual(await pet.json(), { id: 1, name: 'Rex', status: 'available', categoryId: 1 });
    assert.equal(pet.headers.get('x-ratelimit-limit'), '60');
    gateway.kill('SIGTERM');
    assert.deepEqual(await ended, [0, null]);
  } finally {
    gateway.kill('SIGKILL');
  }
}

async function checkVersion(version) {
  const directory = mkdtempSync(join(tmpdir(), 'petstore-smoke-'));
  try {
    const node = await install(version, directory);
    if (!node) {
      if (process.env.CI === 'true') throw new Error(`${PACKAGE}@${version} cannot be installed.`);
      console.log(`!! Node ${version}: ${PACKAGE}@${version} cannot be installed; SKIPPED`);
      return;
    }
    await check(node, directory);
    const { stdout } = await run(node, ['--version']);
    console.log(`Node ${stdout.trim()}: passed`);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

await Promise.all(process.argv.slice(2).map(checkVersion));
