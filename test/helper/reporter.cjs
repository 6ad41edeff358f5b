const { mkdirSync, writeFileSync } = require('node:fs');
const { dirname, join, relative } = require('node:path');

const PROJECT = join(__dirname, '..', '..');
const DURATIONS = join(PROJECT, 'node_modules', '.cache', 'petstore-test', 'durations.json');

/** Ends a run of the whole suite with what it left out and why, and keeps how long each file took. */
module.exports = class {
  constructor({ nonFlagArgs, testNamePattern }) {
    this.isWhole = !nonFlagArgs.length && !testNamePattern;
  }

  onRunComplete(_contexts, { testResults, numPendingTests }) {
    const durations = testResults.map(({ testFilePath, perfStats: { start, end } }) => ({
      file: relative(PROJECT, testFilePath),
      seconds: (end - start) / 1000,
    }));
    if (!this.isWhole) return;
    mkdirSync(dirname(DURATIONS), { recursive: true });
    writeFileSync(DURATIONS, JSON.stringify(durations));
    process.stderr.write(`\n${leftOut(numPendingTests)}\n`);
  }
};

module.exports.DURATIONS = DURATIONS;

function leftOut(skipped) {
  const { TEST_FULL, TEST_DATABASE_URL, TEST_REDIS_URL } = process.env;
  const missing = [
    !TEST_DATABASE_URL && 'PostgreSQL (TEST_DATABASE_URL)',
    !TEST_REDIS_URL && 'Redis (TEST_REDIS_URL)',
    TEST_FULL && 'Chromium (TEST_CHROMIUM), HAProxy where they are not installed',
  ].filter(Boolean);
  const parts = [
    skipped && `${skipped} tests that need ${missing.join(', ')}`,
    !TEST_FULL && 'storms, crashes, outages, browsers, client tools and long fuzzing (npm run test:full)',
  ].filter(Boolean);
  return `Left out: ${parts.join('; ') || 'nothing'}.`;
}
