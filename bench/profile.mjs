// Shows where the time of one workload goes, by package and by directory of src/. See README.md.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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

async function profile(directory, { port, stop }) {
  const requests = prepare(work, port);
  await load(port, requests, { ...options, seconds: options.warmup });
  const from = now();
  const { requests: count, failures } = await load(port, requests, options);
  const to = now();
  await stop();

  if (failures.size) console.error('failures:', [...failures.keys()][0]);
  const profiles = readdirSync(directory).map((file) => JSON.parse(readFileSync(join(directory, file), 'utf8')));
  const { byPlace, byFunction, totalUs } = selfTimes(profiles, from, to);
  console.log(
    `${server.title}, ${work.title}: ${count} requests, ${(totalUs / count / 1000).toFixed(3)} ms of profiled time each\n`,
  );
  console.log(table('package or directory', byPlace, totalUs, count));
  console.log(table('function', byFunction, totalUs, count, TOP));
}

if (!server?.faces.includes(work.face)) throw new Error(`Nothing to profile under ${work.name}`);
pinLoad();
const directory = mkdtempSync(join(tmpdir(), 'petstore-profile-'));
const flags = ['--cpu-prof', '--cpu-prof-interval', '250', '--cpu-prof-dir', directory];
try {
  await onStage([server], options.database, ({ running: [running] }) => profile(directory, running), flags);
} finally {
  rmSync(directory, { recursive: true, force: true });
}
