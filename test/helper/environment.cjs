// Jest evaluates modules in a VM context, where PGlite's WebAssembly kills the process:
// the real module is loaded here, outside of it, and handed in.
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
