// Each test file runs in a VM context of its own, but the product and the packages are loaded by Node itself, once for
// each of Jest's workers: to load them anew for every file takes seconds, and PGlite's WebAssembly crashes there.
// `module.cjs` is what a test's import of such a module becomes.
// PGlite's PostgreSQL is compiled once, quickly, rather than a second time while it runs.
require('node:v8').setFlagsFromString('--liftoff-only');
require('./typescript.cjs');
const threads = require('node:worker_threads');
const { TestEnvironment } = require('jest-environment-node');

const values = { Boolean, Date, JSON, Map, Number, Promise, RegExp, Set, String };
const errors = { AggregateError, Error, RangeError, SyntaxError, TypeError, URIError };

/** What tests compare with, hand to or observe of the product: that of the product's realm, not of the test file's. */
const shared = { ...values, ...errors, process };

/** What helpers keep from one test file to the next: see `per-worker.ts`. */
const worker = new Map();

// Embedded databases stay open for later test files, and would keep a worker of Jest's running that has finished: Jest kills it
// with a warning. While tests run, it is kept running by its channel to Jest.
const { Worker } = threads;
threads.Worker = class extends Worker {
  constructor(...args) {
    super(...args);
    // A listener that is added now would keep it.
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
