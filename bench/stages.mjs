// Shows how much each stage of a request costs. Switches the stages off and on, one at a time, in a running process. See
// README.md.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { costOf } from './lib/cost.mjs';
import { startIssuer } from './lib/issuer.mjs';
import { load, prepare } from './lib/load.mjs';
import { pick, readOptions } from './lib/options.mjs';
import { pinLoad } from './lib/process.mjs';
import { servers, startable } from './lib/servers.mjs';
import { onStage } from './lib/stage.mjs';
import { works } from './lib/works.mjs';

const STAGES = fileURLToPath(new URL('lib/stages.cjs', import.meta.url));
const PAUSE_SECONDS = 0.5;
/** The number of users whose tokens are compared with the key. The gateway knows each token, but not from the same connection. */
const USERS = 1_000;

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

/**
 * Compares requests that send a known token with requests that send the key, in turn.
 * @returns the saving by a token, in the same form as for a stage, in microseconds per request
 */
async function compareTokens(work, { pid, port }, tokens) {
  const measure = async (requests, seconds) => {
    const before = costOf(pid).cpuMs;
    const { requests: count, failures } = await load(port, requests, { connections: options.connections, seconds });
    const [failure] = failures.keys();
    if (failure) throw new Error(failure);
    return ((costOf(pid).cpuMs - before) * 1000) / count;
  };
  const withKey = prepare(work, port);
  const withToken = prepare(
    work,
    port,
    tokens.map((token) => `authorization: Bearer ${token}`),
  );
  await measure(withToken, options.warmup);
  const saved = [];
  for (let round = 0; round < options.rounds; round++)
    saved.push((await measure(withKey, PAUSE_SECONDS)) - (await measure(withToken, PAUSE_SECONDS)));
  saved.sort((a, b) => a - b);
  const at = (part) => saved[Math.floor(saved.length * part)];
  return { stage: 'the key, with a known token instead', saved: at(0.5), from: at(0.25), to: at(0.75) };
}

function linesOf(file) {
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
}

if (!gateway) process.exit(1);
pinLoad();
const directory = mkdtempSync(join(tmpdir(), 'petstore-stages-'));
const issuer = await startIssuer();
try {
  const tokens = await Promise.all(Array.from({ length: USERS }, (_, i) => issuer.sign(`user ${i}`)));
  for (const work of chosenWorks) {
    const file = join(directory, work.name);
    const env = { STAGES_FILE: file, STAGES_PAIRS: String(options.rounds), NODE_OPTIONS: `--require=${STAGES}` };
    const switched = { ...gateway, env: { ...gateway.env, ...issuer.env, ...env } };
    await onStage([switched], options.database, async ({ running: [running] }) => {
      const results = await measureStages(work, running, file);
      results.push(await compareTokens(work, running, tokens));
      console.log(
        `\n${work.title}, ${options.connections} connections: ${results[0].us.toFixed(0)} µs of CPU per request\n`,
      );
      console.log('| without | saves, µs | quartiles |\n| --- | ---: | ---: |');
      for (const { stage, saved, from, to } of results)
        console.log(`| ${stage} | ${saved.toFixed(1)} | ${from.toFixed(1)} to ${to.toFixed(1)} |`);
    });
  }
} finally {
  issuer.close();
  rmSync(directory, { recursive: true, force: true });
}
