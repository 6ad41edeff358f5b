// Measures how a flood of rejected requests from one caller slows another caller. See README.md.
import { load } from './lib/load.mjs';
import { readOptions } from './lib/options.mjs';
import { pinLoad } from './lib/process.mjs';
import { API_KEY, servers } from './lib/servers.mjs';
import { onStage } from './lib/stage.mjs';

/** Maximum ratio of the other caller's p99 during a flood to its p99 without a flood. */
const MOST = 3;
/** Number of connections of the other caller. With so few, its requests are delayed by the flood and not by each other. */
const FEW = 4;

const options = readOptions();
const server = servers.find(({ name }) => name === (options.only?.[0] ?? 'gateway'));

function bytes(port, head, body = '') {
  const length = body ? [`content-type: application/json`, `content-length: ${Buffer.byteLength(body)}`] : [];
  return Buffer.from([...head, `host: 127.0.0.1:${port}`, ...length, '', body].join('\r\n'));
}

let floods = 0;
/** Each flood comes from a new address, which is not banned yet. */
const from = () => `x-forwarded-for: 192.0.2.${++floods}`;

/** Floods by a caller without a key: valid requests, which are rejected once its quota is used up, and invalid requests. */
const FLOODS = {
  'valid requests': (port) => bytes(port, ['GET /pets/1 HTTP/1.1', from()]),
  'invalid documents': (port) =>
    bytes(port, ['POST /graphql HTTP/1.1', from()], JSON.stringify({ query: '{ pets { nodes { nothing } } }' })),
};

/** The number of failed requests by status, as text, such as `429 × 40000, 400 × 60`. */
const answersOf = ({ failures }) => {
  const counts = {};
  for (const [text, count] of failures) counts[text.slice(0, 3)] = (counts[text.slice(0, 3)] ?? 0) + count;
  return Object.entries(counts)
    .map(([status, count]) => `${status} × ${count}`)
    .join(', ');
};

const p99 = (latencies) => latencies[Math.floor(latencies.length * 0.99)];

pinLoad();
const trusting = { ...server, env: { ...server.env, TRUST_PROXY: '127.0.0.1' } };
await onStage([trusting], options.database, async ({ running: [{ port }] }) => {
  const asked = Array.from({ length: 1000 }, (_, i) =>
    bytes(port, [`GET /pets?id=${i + 1} HTTP/1.1`, `x-api-key: ${API_KEY}`]),
  );
  const other = () => load(port, asked, { connections: FEW, seconds: options.seconds });
  await load(port, asked, { connections: FEW, seconds: options.warmup });

  for (const [name, request] of Object.entries(FLOODS)) {
    const ratios = [];
    for (let round = 1; round <= options.rounds; round++) {
      const quiet = await other();
      const [flood, flooded] = await Promise.all([
        load(port, [request(port)], { connections: options.connections, seconds: options.seconds }),
        other(),
      ]);
      if (quiet.failures.size || flooded.failures.size)
        throw new Error(`the other caller was refused: ${[...quiet.failures.keys(), ...flooded.failures.keys()][0]}`);
      const ratio = p99(flooded.latencies) / p99(quiet.latencies);
      ratios.push(ratio);
      const rate = Math.round(flood.requests / flood.seconds);
      console.log(
        `${name}: ${rate}/s, ${answersOf(flood)}; the other's p99 ${p99(quiet.latencies).toFixed(1)} → ${p99(flooded.latencies).toFixed(1)} ms (× ${ratio.toFixed(1)}), ${Math.round(quiet.requests / quiet.seconds)} → ${Math.round(flooded.requests / flooded.seconds)} requests/s`,
      );
    }
    const worst = Math.max(...ratios);
    if (worst > MOST) {
      console.error(`${name}: the other caller's p99 is × ${worst.toFixed(1)}; at most × ${MOST} is allowed`);
      process.exitCode = 1;
    }
  }
});
