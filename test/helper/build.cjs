// Some tests start the built process. It is rebuilt first, so that none runs a stale build.
const { spawnSync } = require('node:child_process');
const { join } = require('node:path');

module.exports = () => {
  const root = join(__dirname, '..', '..');
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const { status, stdout } = spawnSync(process.execPath, [tsc, '-b'], { cwd: root, encoding: 'utf8' });
  if (status !== 0) throw new Error(`The build fails:\n${stdout}`);
};
