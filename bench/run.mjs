// Measures what a request costs: the gateway against its baselines. See README.md.
import { mkdirSync, writeFileSync } from 'node:fs';
import { restore, serverVersion } from './lib/database.mjs';
import { load, prepare } from './lib/load.mjs';
import { better, measure } from './lib/measure.mjs';
import { pick, readOptions } from './lib/options.mjs';
import { pinLoad, pinned } from './lib/process.mjs';
import { circumstances, details, glance, writeReadme } from './lib/report.mjs';
import { servers, startable } from './lib/servers.mjs';
import { onStage } from './lib/stage.mjs';
import { verify } from './lib/verify.mjs';
import { works } from './lib/works.mjs';

// Many short rounds: other load on the machine comes and goes within seconds, so each server gets some quiet rounds.
const options = readOptions({ rounds: '24', seconds: '0.5', connections: '16,64' });
const chosenWorks = pick(works, options.work, 'work');
const takesPart = ({ faces, gateway }, { face, filters }) => faces.includes(face) && (gateway || !filters);
const chosenServers = startable(pick(servers, options.only, 'only')).filter((server) =>
  chosenWorks.some((work) => takesPart(server, work)),
);

/**
 * Runs one workload. First compares the responses of all servers, and warms the servers up. Then runs the rounds for each
 * number of connections. Each round measures every server once.
 */
async function compete(work, running, url) {
  const field = running
    .filter((server) => takesPart(server, work))
    .map((server) => ({ server, requests: prepare(work, server.port) }));
  const wrong = await verify(
    work,
    field.map(({ server }) => server),
    url,
  );
  for (const [name, failure] of wrong) console.error(`${work.name} ${name}: ${failure}`);
  const sound = field.filter(({ server }) => !wrong.has(server.name));
  for (const { server, requests } of sound) {
    await load(server.port, requests, { connections: options.connections, seconds: options.warmup });
  }
  const results = [];
  for (const connections of options.loads) {
    const rounds = await runRounds(work, connections, sound);
    for (const { server } of field) {
      const measured = rounds.get(server.name);
      const failure = wrong.get(server.name) ?? measured.find(({ failure }) => failure)?.failure;
      results.push({ work, connections, server, failure, figures: failure ? undefined : better(measured) });
    }
    if (work.writes) await restore(url);
  }
  return results;
}

/** @returns the figures of each round, by server name */
async function runRounds(work, connections, field) {
  const rounds = new Map(field.map(({ server }) => [server.name, []]));
  for (let round = 1; round <= options.rounds; round++) {
    for (const { server, requests } of ordered(field, round)) {
      const figures = await measure(server, requests, { connections, seconds: options.seconds });
      rounds.get(server.name).push(figures);
      console.error(
        `${work.name} × ${connections} ${round}/${options.rounds} ${server.name}: ${figures.cpuMs.toFixed(3)} CPU-ms/request`,
      );
    }
  }
  return rounds;
}

/**
 * The servers in the order of a round. Each server runs first equally often, and after different servers: the order is
 * rotated by one server in each round, and reversed after each full rotation.
 */
function ordered(field, round) {
  const at = round % field.length;
  const rotated = [...field.slice(at), ...field.slice(0, at)];
  return Math.floor(round / field.length) % 2 ? rotated.reverse() : rotated;
}

if (!chosenServers.length) throw new Error('Nothing to measure');
pinLoad();
await onStage(chosenServers, options.database, async ({ url, running }) => {
  const results = [];
  for (const work of chosenWorks) results.push(...(await compete(work, running, url)));
  const heading = circumstances(await serverVersion(), pinned, options);
  const table = glance(results, chosenServers);
  const text = [heading, table, details(results)].join('\n\n');
  console.log(text);
  mkdirSync(new URL('results/', import.meta.url), { recursive: true });
  writeFileSync(new URL('results/latest.md', import.meta.url), `${text}\n`);
  if (options.write) writeReadme(`${heading}\n\n${table}`);
  if (results.some(({ failure }) => failure)) process.exitCode = 1;
});
// A complete run also measures the forms of a request.
if (!options.only && !options.work) await import('./forms.mjs');
