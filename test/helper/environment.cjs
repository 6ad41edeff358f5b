// Jest runs each test file in a separate VM context. Node itself loads the product and the packages, once for each Jest
// worker (`module.cjs`). Loading them for every test file would take seconds, and PGlite's WebAssembly crashes in a VM
// context.

// V8 compiles PGlite's WebAssembly once with its fast compiler, and does not optimize the WebAssembly while it runs.
require('node:v8').setFlagsFromString('--liftoff-only');
require('./typescript.cjs');
const hooks = require('node:async_hooks');
const { readFileSync } = require('node:fs');
const { join, sep } = require('node:path');
const threads = require('node:worker_threads');
const { TestEnvironment } = require('jest-environment-node');

const BUILD = join(__dirname, '..', '..', 'dist') + sep;

// Lets tests replace an export of the product: `jest.spyOn(module, 'name', 'get')`.
const { '.js': load } = require.extensions;
require.extensions['.js'] = (module, filename) => {
  if (!filename.startsWith(BUILD)) return load(module, filename);
  const code = readFileSync(filename, 'utf8').replaceAll('enumerable: true,', 'enumerable: true, configurable: true,');
  return module._compile(code, filename);
};

/**
 * Jest keeps the running test in an `AsyncLocalStorage`. Before Node 24, this slows down every promise of the worker. Without
 * TEST_FULL, one test runs at a time, so a variable suffices.
 */
class RunningTest {
  getStore() {
    return this.store;
  }

  async run(store, callback) {
    const before = this.store;
    this.store = store;
    try {
      return await callback();
    } finally {
      this.store = before;
    }
  }
}
if (!process.env.TEST_FULL) hooks.AsyncLocalStorage = RunningTest;

const values = { Boolean, Date, JSON, Map, Number, Promise, RegExp, Set, String };
const errors = { AggregateError, Error, RangeError, SyntaxError, TypeError, URIError };

/**
 * The globals of the product. They replace the globals of the test file's VM context. Otherwise, for example,
 * `error instanceof Error` would be false in a test for errors of the product.
 */
const shared = { ...values, ...errors, process };

/** The values that helpers keep from one test file to the next: see `per-worker.ts`. */
const worker = new Map();

// Embedded databases stay open for later test files. Their threads must not keep a finished Jest worker running, since
// Jest would kill the worker with a warning. While tests run, the channel to Jest keeps the worker running.
const { Worker } = threads;
threads.Worker = class extends Worker {
  constructor(...args) {
    super(...args);
    // Calls `unref` later, because a listener added after `unref` would keep the Jest worker running.
    setImmediate(() => this.unref());
  }
};

module.exports = class extends TestEnvironment {
  async setup() {
    await super.setup();
    Object.assign(this.global, shared, { loadByNode: require, worker });
  }

  async teardown() {
    await super.teardown();
  }
};
