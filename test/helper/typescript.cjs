// Lets Node load TypeScript: in Jest's workers, and with `node -r` in the processes that tests start. The product's modules
// come from the build.
const { readFileSync } = require('node:fs');
const { join, sep } = require('node:path');
const { options } = require('../../build.cjs');

const PROJECT = join(__dirname, '..', '..');
const SOURCES = join(PROJECT, 'src') + sep;

require.extensions['.ts'] = (module, filename) => {
  if (filename.startsWith(SOURCES)) {
    module.exports = require(join(PROJECT, 'dist', filename.slice(SOURCES.length).replace(/\.ts$/, '.js')));
    return;
  }
  const { transformSync } = require('@swc/core');
  module._compile(
    transformSync(readFileSync(filename, 'utf8'), { ...options, filename, sourceMaps: 'inline' }).code,
    filename,
  );
};
