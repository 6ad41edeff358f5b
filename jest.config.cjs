// Far from UTC, where a date that is read in the wrong zone shows.
process.env.TZ = 'America/New_York';

/** @type {import('jest').Config} */
module.exports = {
  rootDir: __dirname,
  roots: ['<rootDir>/test'],
  globalSetup: '<rootDir>/test/helper/build.cjs',
  testEnvironment: '<rootDir>/test/helper/environment.cjs',
  setupFilesAfterEnv: ['<rootDir>/test/helper/every-answer.ts'],
  transform: {
    '\\.ts$': ['@swc/jest', require('./test/helper/swc.cjs')],
    // An ES module that CommonJS packages require; Jest cannot.
    'content-disposition/.*\\.js$': [
      '@swc/jest',
      { jsc: { target: 'es2023' }, module: { type: 'commonjs' } },
    ],
  },
  transformIgnorePatterns: ['/node_modules/(?!content-disposition/)'],
  maxWorkers: 2,
  // Creating a data directory and starting a browser take seconds, and many on a busy machine.
  testTimeout: 120_000,
};
