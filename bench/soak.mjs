// Checks that memory and handles stay flat under mixed traffic. See README.md.
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { load, prepare } from './lib/load.mjs';
import { readOptions } from './lib/options.mjs';
import { pinLoad } from './lib/process.mjs';
import { API_KEY, servers } from './lib/servers.mjs';
import { onStage } from './lib/stage.mjs';
import { works } from './lib/works.mjs';

/** Samples per run. The first {@link WARM_UP} samples are not compared. */
const SAMPLES = 20;
const WARM_UP = 6;
/**
 * Allowed growth from the first to the second half of a run. Caches that are still filling cause less growth; more growth
 * indicates a leak.
 */
const MOST = 1.15;
const SETTLE_MS = 500;
const COLLECTOR = fileURLToPath(new URL('lib/collect-garbage.cjs', import.meta.url));
const FIGURES = {
  'heap, MiB': ['nodejs_heap_size_used_bytes', 2 ** 20],
  'external, MiB': ['nodejs_external_memory_bytes', 2 ** 20],
  'file descriptors': ['process_open_fds', 1],
  'active resources': ['nodejs_active_resources_total', 1],
};

const options = readOptions();
const server = servers.find(({ name }) => name === (options.only?.[0] ?? 'gateway'));

/** Reads the figures after garbage collection. */
async function sample({ url, pid }) {
  process.kill(pid, 'SIGUSR2');
  await sleep(SETTLE_MS);
  const text = await (await fetch(`${url}/metrics`, { headers: { 'x-api-key': API_KEY } })).text();
  const read = ([metric, unit]) => Number(new RegExp(`^${metric} (\\S+)`, 'm').exec(text)?.[1]) / unit;
  return Object.fromEntries(Object.entries(FIGURES).map(([name, from]) => [name, read(from)]));
}

pinLoad();
await onStage(
  [server],
  options.database,
  async ({ running: [gateway] }) => {
    const requests = works.map((work) => prepare(work, gateway.port));
    const mixed = requests[0].flatMap((_, i) => requests.map((list) => list[i]));
    const samples = [];
    let sent = 0;
    while (samples.length < SAMPLES) {
      const run = await load(gateway.port, mixed, { ...options, seconds: options.seconds / SAMPLES });
      if (run.failures.size) throw new Error(`failed: ${[...run.failures.keys()][0]}`);
      sent += run.requests;
      samples.push(await sample(gateway));
    }
    console.log(`${sent} requests in ${options.seconds} s`);
    const warm = samples.slice(WARM_UP);
    const half = Math.floor(warm.length / 2);
    for (const name of Object.keys(FIGURES)) {
      const [first, second] = [warm.slice(0, half), warm.slice(-half)].map((part) =>
        Math.min(...part.map((each) => each[name])),
      );
      console.log(
        `${name}: ${samples.map((each) => each[name].toFixed(0)).join(' ')}; least ${first.toFixed(1)} → ${second.toFixed(1)}`,
      );
      if (!(second <= first * MOST + 1)) {
        console.error(`${name} grew: at most × ${MOST} is allowed`);
        process.exitCode = 1;
      }
    }
  },
  ['--expose-gc', '--require', COLLECTOR],
);
