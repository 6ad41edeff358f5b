// Measures the gain of a second worker. See README.md.
import { costOf } from './lib/cost.mjs';
import { load, prepare } from './lib/load.mjs';
import { readOptions } from './lib/options.mjs';
import { servers } from './lib/servers.mjs';
import { onStage } from './lib/stage.mjs';
import { works } from './lib/works.mjs';

const options = readOptions();
const redis = servers.find(({ name }) => name === 'gateway-redis');
const crews = [1, 2].map((size) => ({
  ...redis,
  name: `${size} worker${size > 1 ? 's' : ''}`,
  unpinned: true,
  env: { ...redis.env, WEB_CONCURRENCY: String(size) },
}));

/** A workload that uses much CPU time in the gateway, and little in the load generator and PostgreSQL. */
const introspection = {
  name: 'introspection',
  title: 'introspection',
  face: 'graphql',
  request: () => ({
    method: 'POST',
    path: '/graphql',
    body: { query: '{ __schema { types { name fields { name description type { name } } } } }' },
  }),
};

await onStage(crews, options.database, async ({ running }) => {
  for (const work of [introspection, ...works.filter(({ name }) => name === 'categories')]) {
    const field = running.map((crew) => ({ ...crew, requests: prepare(work, crew.port), perSecond: 0 }));
    for (const { port, requests } of field) await load(port, requests, { ...options, seconds: options.warmup });
    for (let round = 0; round < options.rounds; round++) {
      for (const crew of field) {
        const [own, crews] = [process.cpuUsage(), costOf(crew.pid).cpuMs];
        const result = await load(crew.port, crew.requests, options);
        const [failure] = result.failures.keys();
        if (failure) throw new Error(`${crew.name} failed: ${failure}`);
        const perSecond = result.requests / result.seconds;
        if (perSecond <= crew.perSecond) continue;
        const { user, system } = process.cpuUsage(own);
        crew.perSecond = perSecond;
        crew.cores = (costOf(crew.pid).cpuMs - crews) / result.seconds / 1000;
        crew.loadCores = (user + system) / 1e6 / result.seconds;
      }
    }
    for (const { name, perSecond, cores, loadCores } of field)
      console.log(
        `${work.title}, ${name}: ${Math.round(perSecond)} requests/s on ${cores.toFixed(2)} cores, load generator ${loadCores.toFixed(2)}`,
      );
    const [one, two] = field;
    console.log(`${work.title}: ${(two.perSecond / one.perSecond).toFixed(2)} times\n`);
  }
});
