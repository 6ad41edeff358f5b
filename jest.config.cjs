/** @type {import('jest').Config} */
module.exports = {
  rootDir: __dirname,
  roots: ['<rootDir>/test'],
  testEnvironment: '<rootDir>/test/helper/environment.cjs',
  transform: { '\\.ts$': ['@swc/jest', require('./test/helper/swc.cjs')] },
  maxWorkers: 2,
  testTimeout: 30_000,
};
