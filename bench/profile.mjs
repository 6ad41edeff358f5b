// Shows where the time of one workload goes, by package and by directory of src/. See README.md.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { garbageEnv, watchGarbage } from './lib/garbage.mjs';
import { load, prepare } from './lib/load.mjs';
import { pick, readOptions } from './lib/options.mjs';
import { pinLoad } from './lib/process.mjs';
import { selfTimes, table } from './lib/self-time.mjs';
import { servers, startable } from './lib/servers.mjs';
import { onStage } from './lib/stage.mjs';
import { works } from './lib/works.mjs';

const TOP = 40;

const options = readOptions();
const [work] = pick(works, options.work ?? ['pets'], 'work');
const [server] = startable(pick(servers, options.only ?? ['gateway'], 'only'));

/** The monotonic clock V8 uses in its profiles, in microseconds. */
const now = () => Number(process.hrtime.bigint() / 1000n);

async function profile(directory, running) {
  const { port, stop } = running;
  const requests = prepare(work, port);
  await load(port, requests, { ...options, seconds: options.warmup });
  const from = now();
  const { result, garbage } = await watchGarbage(running, GARBAGE, () => load(port, requests, options));
  const { requests: count, failures } = result;
  const to = now();
  await stop();

  if (failures.size) console.error('failures:', [...failures.keys()][0]);
  const profiles = readdirSync(directory, { encoding: 'utf8' })
    .filter((file) => file.endsWith('.cpuprofile'))
    .map((file) => JSON.parse(readFileSync(join(directory, file), 'utf8')));
  const { byPlace, byFunction, totalUs } = selfTimes(profiles, from, to);
  console.log(
    `${server.title}, ${work.title}: ${count} requests, ${(totalUs / count / 1000).toFixed(3)} ms of profiled time each\n`,
  );
  const { us, ...bytes } = garbage;
  const kib = Object.entries(bytes).map(([name, value]) => `${(value / count / 1024).toFixed(1)} KiB ${name}`);
  console.log(`young generation, each: ${kib.join(', ')}; ${(us / count).toFixed(1)} µs\n`);
  console.log(table('package or directory', byPlace, totalUs, count));
  console.log(table('function', byFunction, totalUs, count, TOP));
}

if (!server?.faces.includes(work.face)) throw new Error(`Nothing to profile under ${work.name}`);
pinLoad();
const directory = mkdtempSync(join(tmpdir(), 'petstore-profile-'));
const GARBAGE = join(directory, 'garbage.json');
const watched = { ...server, env: garbageEnv(GARBAGE, server.env) };
const flags = ['--cpu-prof', '--cpu-prof-interval', '250', '--cpu-prof-dir', directory];
try {
  await onStage([watched], options.database, ({ running: [running] }) => profile(directory, running), flags);
} finally {
  rmSync(directory, { recursive: true, force: true });
}
