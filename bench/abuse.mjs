// Measures how much one caller's abusive requests slow other callers. See README.md.
import { setTimeout as sleep } from 'node:timers/promises';
import { ABUSES, ON_POSTGRES } from './lib/abuses.mjs';
import { load } from './lib/load.mjs';
import { readOptions } from './lib/options.mjs';
import { API_KEY, servers } from './lib/servers.mjs';
import { onStage } from './lib/stage.mjs';

/**
 * Maximum ratio of the other caller's median response time during an abuse to the median without it. A median below
 * {@link SMALL_MS} is always allowed.
 */
const MOST = 2;
const SMALL_MS = 2;
/** Maximum response time of `/livez`, in milliseconds. */
const LIVEZ_MS = 100;
/** Number of connections of the other caller. With so few, its requests are delayed by the abuse and not by each other. */
const FEW = 2;

const options = readOptions({ seconds: '4' });
const server = servers.find(({ name }) => name === (options.embedded ? 'gateway-embedded' : 'gateway'));
const bytes = (lines) => Buffer.from([...lines, '', ''].join('\r\n'));

/** Requests `/livez` until the time `until`. @returns the longest response time in milliseconds. */
async function slowestLivez(url, until) {
  let slowest = 0;
  while (performance.now() < until) {
    const started = performance.now();
    await (await fetch(`${url}/livez`)).arrayBuffer();
    slowest = Math.max(slowest, performance.now() - started);
    await sleep(20);
  }
  return slowest;
}

const median = (latencies) => latencies[Math.floor(latencies.length / 2)];

await onStage(
  [{ ...server, env: { ...server.env, TRUST_PROXY: '127.0.0.1' } }],
  options.database,
  async ({ url: database, running: [{ port, url }] }) => {
    const asked = Array.from({ length: 1000 }, (_, i) =>
      bytes([
        `GET /pets?id=${i + 1} HTTP/1.1`,
        `host: 127.0.0.1:${port}`,
        'x-forwarded-for: 198.51.100.7',
        `x-api-key: ${API_KEY}`,
      ]),
    );
    const other = (seconds = options.seconds) => load(port, asked, { connections: FEW, seconds });
    await other(options.warmup);
    for (const [name, abuse] of Object.entries(ABUSES)) {
      if (options.only && !options.only.includes(name)) continue;
      if (options.embedded && ON_POSTGRES.includes(name)) continue;
      const quiet = await other();
      const until = performance.now() + options.seconds * 1000;
      const [answer, meanwhile, livez] = await Promise.all([
        abuse({ url, port, until, database, key: API_KEY }),
        other(),
        slowestLivez(url, until),
      ]);
      const [before, during] = [median(quiet.latencies), median(meanwhile.latencies)];
      const rejected = [...meanwhile.failures.values()].reduce((sum, count) => sum + count, 0);
      console.log(
        `${name}: ${answer}; the other caller's median ${before.toFixed(1)} → ${during.toFixed(1)} ms${rejected ? `, ${rejected} rejected` : ''}; /livez at most ${livez.toFixed(0)} ms`,
      );
      const isSlow = during > Math.max(SMALL_MS, MOST * before, before + (abuse.allowedMs ?? 0));
      if (rejected || isSlow || livez > LIVEZ_MS) process.exitCode = 1;
    }
  },
);
