// Lets Node load the product's TypeScript: in Jest's workers, and with `node -r` in the processes that tests start.
// Compiled code is cached by a hash of its source.
const { createHash } = require('node:crypto');
const { mkdirSync, readFileSync, renameSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');
const { version } = require('@swc/core/package.json');
const swc = require('./swc.cjs');

const CACHE = join(__dirname, '..', '..', 'node_modules', '.cache', 'petstore-test', 'compiled');
const options = { ...swc, module: { ...swc.module, ignoreDynamic: true }, configFile: false, swcrc: false };
mkdirSync(CACHE, { recursive: true });

function compile(source, filename) {
  const { code } = require('@swc/core').transformSync(source, { ...options, filename });
  return (
    code
      // A dynamic import names the compiled JavaScript file. Here, only the TypeScript file exists.
      .replace(/\bimport\(("|')(\.[^"']+)\.js\1\)/g, 'Promise.resolve().then(() => require("$2"))')
      // Lets tests replace an export: `jest.spyOn(module, 'name', 'get')`.
      .replaceAll('enumerable: true,', 'enumerable: true, configurable: true,')
  );
}

function compiled(filename) {
  const source = readFileSync(filename, 'utf8');
  const key = JSON.stringify([version, options, String(compile), filename, source]);
  const file = join(CACHE, createHash('sha1').update(key).digest('hex'));
  try {
    return readFileSync(file, 'utf8');
  } catch {
    const code = compile(source, filename);
    const unfinished = `${file}.${process.pid}`;
    writeFileSync(unfinished, code);
    renameSync(unfinished, file);
    return code;
  }
}

require.extensions['.ts'] = (module, filename) => module._compile(compiled(filename), filename);

// Worker threads of the product do not inherit the hook above, so they load this file first.
const threads = require('node:worker_threads');
const { Worker } = threads;
threads.Worker = class extends Worker {
  constructor(file, options) {
    if (file.endsWith('.ts'))
      super(`for (const file of ${JSON.stringify([__filename, file])}) require(file);`, { ...options, eval: true });
    else super(file, options);
  }
};
