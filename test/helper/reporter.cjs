const { join, relative } = require('node:path');

const PROJECT = join(__dirname, '..', '..');
const SLOW_SECONDS = 3;

/** After a run of the whole suite, prints the slow test files, and which tests did not run and why. */
module.exports = class {
  constructor({ nonFlagArgs, testNamePattern }) {
    this.isWhole = !nonFlagArgs.length && !testNamePattern;
  }

  onRunComplete(_contexts, { testResults, numPendingTests }) {
    if (this.isWhole) process.stderr.write(`\n${slow(testResults)}${notRun(numPendingTests)}\n`);
  }
};

/** The files that took more than three seconds, the slowest first. */
function slow(testResults) {
  const lines = testResults
    .map(({ testFilePath, perfStats: { start, end } }) => ({ path: testFilePath, seconds: (end - start) / 1000 }))
    .filter(({ seconds }) => seconds > SLOW_SECONDS)
    .sort((a, b) => b.seconds - a.seconds)
    .map(({ path, seconds }) => `${seconds.toFixed(1).padStart(6)} s  ${relative(PROJECT, path)}\n`);
  return lines.length ? `Files over ${SLOW_SECONDS} s:\n${lines.join('')}` : '';
}

function notRun(skipped) {
  const { TEST_FULL, TEST_DATABASE_URL, TEST_REDIS_URL } = process.env;
  const missing = [
    !TEST_DATABASE_URL && 'PostgreSQL (TEST_DATABASE_URL)',
    !TEST_REDIS_URL && 'Redis (TEST_REDIS_URL)',
    TEST_DATABASE_URL && 'the embedded database',
    TEST_FULL && 'a program that is not installed (such as Chromium, HAProxy or promtool)',
  ].filter(Boolean);
  const parts = [
    skipped && `${skipped} tests that need ${missing.join(', ')}`,
    !TEST_FULL && 'processes, storms, crashes, outages, browsers, client tools and fuzzing (npm run test:full)',
  ].filter(Boolean);
  return `Not run: ${parts.join('; ') || 'nothing'}.`;
}
