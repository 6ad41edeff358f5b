// With `node -r` and this file, a test's child process runs TypeScript as the tests do.
const { readFileSync } = require('node:fs');
const { transformSync } = require('@swc/core');
const options = require('./swc.cjs');

require.extensions['.ts'] = (module, filename) => {
  const { code } = transformSync(readFileSync(filename, 'utf8'), {
    ...options,
    module: { ...options.module, ignoreDynamic: true },
    configFile: false,
    swcrc: false,
    filename,
  });
  module._compile(code, filename);
};
