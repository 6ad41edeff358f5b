// Jest evaluates modules in a VM context, where PGlite's WebAssembly crashes the process: the real module is loaded
// here, outside it, and passed in.
const { TestEnvironment } = require('jest-environment-node');

module.exports = class extends TestEnvironment {
  async setup() {
    await super.setup();
    this.global.pgliteModule = {
      ...(await import('@electric-sql/pglite')),
      ...(await import('@electric-sql/pglite/contrib/pg_trgm')),
    };
  }
};
