// Each test file runs in a VM context of its own, but the product and the packages are loaded by Node itself, once for
// each of Jest's workers: to load them anew for every file takes seconds, and PGlite's WebAssembly crashes there.
// `module.cjs` is what a test's import of such a module becomes.
// PGlite's PostgreSQL is compiled once, quickly, rather than a second time while it runs.
require('node:v8').setFlagsFromString('--liftoff-only');
require('./typescript.cjs');
const { TestEnvironment } = require('jest-environment-node');

const values = { Boolean, Date, JSON, Map, Number, Promise, RegExp, Set, String };
const errors = { AggregateError, Error, RangeError, SyntaxError, TypeError, URIError };

/** What tests compare with, hand to or observe of the product: that of the product's realm, not of the test file's. */
const shared = { ...values, ...errors, process };

/** What helpers keep from one test file to the next: see `per-worker.ts`. */
const worker = new Map();

// PGlite never stops its statement timers. One that is pending when a worker has finished would keep it running, and Jest
// kills such a worker with a warning. While tests run, a worker is kept running by its channel to Jest.
const { setTimeout } = globalThis;
globalThis.setTimeout = Object.assign((work, ms, ...args) => {
  const timer = setTimeout(work, ms, ...args);
  return process.send || ms >= 5000 ? timer.unref() : timer;
}, setTimeout);

module.exports = class extends TestEnvironment {
  async setup() {
    await super.setup();
    Object.assign(this.global, shared, { loadByNode: require, worker });
  }

  async teardown() {
    await super.teardown();
    // PGlite sets 100 when it starts, and Jest replaces a worker that exits with an error.
    process.exitCode = undefined;
  }
};
