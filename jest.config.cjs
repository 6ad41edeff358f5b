const { availableParallelism } = require('node:os');
const { options } = require('./build.cjs');
const { dependencies, devDependencies } = require('./package.json');

// A time zone far from UTC, so that the tests detect dates that are parsed in the wrong time zone.
process.env.TZ = 'America/New_York';

/** The packages that tests may import, without the packages of Jest and SWC. Node itself loads them (`module.cjs`). */
const packages = Object.keys({ ...dependencies, ...devDependencies }).filter((name) => !/jest|swc/.test(name));

const common = {
  rootDir: __dirname,
  roots: ['<rootDir>/test'],
  globalSetup: '<rootDir>/test/helper/global-setup.cjs',
  globalTeardown: '<rootDir>/test/helper/global-teardown.cjs',
  testEnvironment: '<rootDir>/test/helper/environment.cjs',
  setupFilesAfterEnv: ['<rootDir>/test/helper/every-test.ts'],
  transform: {
    // The decorators of this domain fill the metadata of type-graphql, so the domain is loaded once for each worker, like the
    // product.
    '/test/toys/(boxes|toys)\\.ts$': '<rootDir>/test/helper/module.cjs',
    '/test/.*\\.ts$': ['@swc/jest', { ...options, module: { type: 'commonjs' } }],
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
  // One worker more than cores, since tests also wait. Each worker takes about a gigabyte.
  maxWorkers: Math.min(availableParallelism() + 1, 8),
  // Of tests that wait (`test.concurrent`) in a file. With more, gateways start and stop too late beside a test in Chromium.
  maxConcurrency: 3,
  // On a busy machine, a worker takes longer than 0.5 s to end. By default, Jest would then kill the worker with a warning.
  workerGracefulExitTimeout: 10_000,
  // Creating a data directory or starting a browser takes seconds, and many more on a busy machine.
  testTimeout: 300_000,
};
