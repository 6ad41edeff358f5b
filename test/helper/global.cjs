// Runs before and after all tests. Starts separate processes, because Jest transforms the modules that this process loads.
const { spawnSync } = require('node:child_process');
const { join } = require('node:path');

const PROJECT = join(__dirname, '..', '..');

function run(...args) {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: PROJECT, encoding: 'utf8' });
  if (status !== 0) throw new Error(`node ${args.join(' ')}:\n${stdout}${stderr}`);
}

exports.setup = () => {
  run(join(PROJECT, 'build.cjs'));
  run('-r', join(__dirname, 'typescript.cjs'), join(__dirname, 'prepare.ts'));
  process.env.TEST_DATABASE_PREFIX = `petstore_test_${process.pid}_`;
};

exports.teardown = () => {
  if (process.env.TEST_DATABASE_URL) run(join(__dirname, 'drop-databases.cjs'));
};
