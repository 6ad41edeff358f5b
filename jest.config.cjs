const { availableParallelism } = require('node:os');
const { dependencies, devDependencies } = require('./package.json');

// Far from UTC, where a date that is read in the wrong zone shows.
process.env.TZ = 'America/New_York';

/** What tests may import, but for what Jest itself is made of. */
const packages = Object.keys({ ...dependencies, ...devDependencies }).filter((name) => !/jest|swc/.test(name));

const common = {
  rootDir: __dirname,
  roots: ['<rootDir>/test'],
  globalSetup: '<rootDir>/test/helper/global-setup.cjs',
  globalTeardown: '<rootDir>/test/helper/global-teardown.cjs',
  testEnvironment: '<rootDir>/test/helper/environment.cjs',
  setupFilesAfterEnv: ['<rootDir>/test/helper/every-test.ts'],
  transform: {
    // A domain, whose decorators fill the metadata of type-graphql: loaded once for each worker, as the product.
    '/test/toys/(boxes|toys)\\.ts$': '<rootDir>/test/helper/module.cjs',
    '/test/.*\\.ts$': ['@swc/jest', require('./test/helper/swc.cjs')],
    [`/(src|node_modules/(${packages.join('|')}))/`]: '<rootDir>/test/helper/module.cjs',
  },
  transformIgnorePatterns: [],
};

const full = [
  { ...common, displayName: 'process', testMatch: ['**/*.process.test.ts'] },
  { ...common, displayName: 'full', testMatch: ['**/*.full.test.ts'] },
];
const faults = { ...common, displayName: 'faults', testMatch: ['**/*.faults.test.ts'] };

/** @type {import('jest').Config} */
module.exports = {
  projects: [
    { ...common, displayName: 'unit', testMatch: ['**/*.unit.test.ts'] },
    { ...common, displayName: 'gateway', testMatch: ['**/!(*.unit|*.process|*.full|*.faults).test.ts'] },
    ...(process.env.TEST_FULL ? full : []),
    ...(process.env.TEST_FAULTS ? [faults] : []),
  ],
  reporters: ['default', '<rootDir>/test/helper/reporter.cjs'],
  // One more than cores, since tests also wait, but not where outages are timed. Each takes about a gigabyte.
  maxWorkers: Math.min(availableParallelism() + (process.env.TEST_FULL ? 0 : 1), 8),
  // On a busy machine a worker takes longer to end than the 0.5 s that Jest waits before it kills it with a warning.
  workerGracefulExitTimeout: 10_000,
  // Creating a data directory and starting a browser take seconds, and many on a busy machine.
  testTimeout: 120_000,
};
