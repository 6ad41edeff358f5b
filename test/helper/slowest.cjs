// `npm run test:slowest`: the twenty slowest files of the last run of the suite.
const { readFileSync } = require('node:fs');
const { DURATIONS } = require('./reporter.cjs');

const durations = JSON.parse(readFileSync(DURATIONS, 'utf8'));

const slowest = durations.sort((a, b) => b.seconds - a.seconds).slice(0, 20);
for (const { file, seconds } of slowest) console.log(`${seconds.toFixed(1).padStart(6)} s  ${file}`);
