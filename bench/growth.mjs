// Measures how much more a list costs in a large store than in a small store. See README.md.
import { parseArgs } from 'node:util';
import pg from 'pg';
import { createDatabase, databaseUrl, dropDatabase, serverVersion } from './lib/database.mjs';
import { fillStore, listsOf } from './lib/growth-lists.mjs';

const { openDatabase } = await import('../dist/database/open.js');

const { values: options } = parseArgs({
  options: {
    pets: { type: 'string', default: '10000,1000000' },
    runs: { type: 'string', default: '15' },
    only: { type: 'string', default: '' },
    limit: { type: 'string', default: '3' },
    floor: { type: 'string', default: '20' },
    search: { type: 'string', default: '250' },
    keep: { type: 'boolean', default: false },
    database: { type: 'string', default: 'petstore_growth' },
  },
});
const sizes = options.pets.split(',').map(Number);
const [limit, floor, mostSearched, runs] = [options.limit, options.floor, options.search, options.runs].map(Number);

/** Opens a store with this number of pets. Fills the store unless an earlier run kept it. */
async function openStore(pets) {
  const name = `${options.database}_${pets}`;
  const url = databaseUrl(name);
  const known = new pg.Client({ connectionString: url });
  const isFilled = await known.connect().then(
    () =>
      known.query('select 1 from orders limit 1').then(
        ({ rowCount }) => rowCount > 0,
        () => false,
      ),
    () => false,
  );
  await known.end().catch(() => undefined);
  if (!isFilled) await createDatabase(name);
  const database = await openDatabase({ url, directory: '', poolSize: 2 });
  if (!isFilled) await fillStore(url, pets);
  return { name, database };
}

/** The 25th percentile of the times of a list in each store, in milliseconds. Each run measures every store once. */
async function measure(list, stores) {
  const times = stores.map(() => []);
  // Six runs are not measured: PostgreSQL considers a generic plan only after five runs with custom plans.
  for (let run = -6; run < runs; run++) {
    for (const [i, { database }] of stores.entries()) {
      const start = performance.now();
      await (list.read ?? list.counts)(database);
      if (run >= 0) times[i].push(performance.now() - start);
    }
  }
  return times.map((all) => all.sort((a, b) => a - b)[Math.floor(all.length / 4)]);
}

const stores = [];
for (const pets of sizes) stores.push(await openStore(pets));
const [few, many] = sizes.map((pets) => pets.toLocaleString('en'));
console.log(
  `${await serverVersion()} · 25th percentile of ${runs} runs · at most ${limit} times the small store's time or ${floor} ms, searches at most ${mostSearched} ms\n`,
);
console.log(`| list | ${few} pets, ms | ${many} pets, ms | ratio | |\n| --- | ---: | ---: | ---: | --- |`);
/** The number of rows that PostgreSQL counts in a store for the totals of a list. */
async function countedBy(list, database) {
  const totals = await list.counts(database);
  return totals.reduce((sum, { count }) => sum + count, 0);
}

/** Time to count one row, in milliseconds. PostgreSQL finds the row by an index and then checks the row in the table. */
const PER_ROW = 0.003;
const slow = [];
/** The time of each list in the small store, by the list's name. */
const small = new Map();
for (const list of listsOf()) {
  if (!list.name.includes(options.only)) continue;
  const [before, after] = await measure(list, stores);
  small.set(list.name, before);
  const [few, many] = list.counts ? await Promise.all(stores.map(({ database }) => countedBy(list, database))) : [0, 0];
  const alike = (small.get(list.like) ?? 0) * list.times || 0;
  const own = Math.max(limit * before, floor) + PER_ROW * Math.max(0, many - few);
  const isSlow = after > (list.isSearch ? mostSearched : Math.max(own, limit * alike));
  if (isSlow) slow.push(list.name);
  const notes = [
    ...(isSlow
      ? ['**too slow**']
      : !list.isSearch && after > own
        ? [`${list.times} lists of ${(alike / list.times).toFixed(1)} ms`]
        : []),
    ...(many > few ? [`${few} → ${many} rows`] : []),
  ];
  console.log(
    `| ${list.name} | ${before.toFixed(2)} | ${after.toFixed(2)} | ${(after / before).toFixed(1)} | ${notes.join(', ')} |`,
  );
}
for (const { name, database } of stores) {
  await database.close();
  if (!options.keep) await dropDatabase(name);
}
if (slow.length) {
  console.error(`\n${slow.length} lists are too slow: ${slow.join('; ')}`);
  process.exitCode = 1;
}
