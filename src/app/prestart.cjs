// Checks the version of Node and compiles, before `npm start` and the commands. Old versions of Node, which cannot parse the
// gateway's other files, must be able to run this file. So it uses only old syntax, and only old APIs before the check.

const needed = require('../../package.json').engines.node.replace('>=', '');
const running = process.versions.node;

const { writeSync } = require('node:fs');

/** Writes text. An unwritable output must not prevent the start. */
function say(fd, text) {
  try {
    writeSync(fd, text);
  } catch (_) {}
}

/** Whether `version` is older than `other`. */
function isBefore(version, other) {
  const [numbers, others] = [version, other].map((each) => each.split('.').map(Number));
  const differing = others.findIndex((number, index) => number !== numbers[index]);
  return differing !== -1 && numbers[differing] < others[differing];
}

if (isBefore(running, needed)) {
  say(2, `petstore-gateway: Node ${running} is too old: ${needed} or later is needed (https://nodejs.org).\n`);
  process.exit(1);
}

const { spawnSync } = require('node:child_process');
const { existsSync } = require('node:fs');
const { join } = require('node:path');
const { build, hasCompiler } = require('../../build.cjs');

const at = (path) => join(__dirname, '..', '..', path);

/** Ends with a one-line error. */
function fail(message) {
  say(2, `petstore-gateway: ${message}\n`);
  process.exit(1);
}

const isBuilt = existsSync(at('dist/main.js'));
if (hasCompiler()) {
  if (!isBuilt) say(1, 'The first start takes a few seconds …\n');
  // `npm install` generates the Prisma client, but not with `--ignore-scripts`.
  if (!existsSync(at('src/database/generated/client.ts'))) {
    const { status } = spawnSync(process.execPath, [at('prisma/generate.mjs')], { stdio: 'inherit' });
    if (status !== 0) fail('node prisma/generate.mjs could not generate the Prisma client');
  }
  build().catch(({ message }) => fail(message));
} else if (!isBuilt) {
  fail('the development packages, which compile the gateway, are not installed: run npm ci --include=dev');
}
