// Shows how much each stage of a request costs. Switches the stages off and on, one at a time, in a running process. See
// README.md.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { load, prepare } from './lib/load.mjs';
import { pick, readOptions } from './lib/options.mjs';
import { pinLoad } from './lib/process.mjs';
import { servers, startable } from './lib/servers.mjs';
import { onStage } from './lib/stage.mjs';
import { works } from './lib/works.mjs';

const STAGES = fileURLToPath(new URL('lib/stages.cjs', import.meta.url));
const PAUSE_SECONDS = 0.5;

const options = readOptions({ rounds: '30' });
const chosenWorks = pick(works, options.work ?? ['pet', 'rest-pet'], 'work');
const [gateway] = startable(pick(servers, ['gateway'], 'only'));

/** Measures all stages under one workload. */
async function measureStages(work, { pid, port }, file) {
  const requests = prepare(work, port);
  const send = (seconds) => load(port, requests, { connections: options.connections, seconds });
  await send(options.warmup);
  const results = [];
  do {
    process.kill(pid, 'SIGUSR2');
    do await send(PAUSE_SECONDS);
    while (linesOf(file).length === results.length);
    results.push(JSON.parse(linesOf(file).at(-1)));
  } while (results.at(-1).left);
  return results;
}

function linesOf(file) {
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
}

if (!gateway) process.exit(1);
pinLoad();
const directory = mkdtempSync(join(tmpdir(), 'petstore-stages-'));
try {
  for (const work of chosenWorks) {
    const file = join(directory, work.name);
    const env = { STAGES_FILE: file, STAGES_PAIRS: String(options.rounds), NODE_OPTIONS: `--require=${STAGES}` };
    const switched = { ...gateway, env: { ...gateway.env, ...env } };
    await onStage([switched], options.database, async ({ running: [running] }) => {
      const results = await measureStages(work, running, file);
      console.log(
        `\n${work.title}, ${options.connections} connections: ${results[0].us.toFixed(0)} µs of CPU per request\n`,
      );
      console.log('| without | saves, µs | quartiles |\n| --- | ---: | ---: |');
      for (const { stage, saved, from, to } of results)
        console.log(`| ${stage} | ${saved.toFixed(1)} | ${from.toFixed(1)} to ${to.toFixed(1)} |`);
    });
  }
} finally {
  rmSync(directory, { recursive: true, force: true });
}
