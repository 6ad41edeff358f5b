// Measures how much one caller's abusive requests slow other callers. See README.md.
import { readFileSync } from 'node:fs';
import { ABUSES } from './lib/abuses.mjs';
import { startObserver } from './lib/observer.mjs';
import { readOptions } from './lib/options.mjs';
import { pinLoad } from './lib/process.mjs';
import { API_KEY, servers } from './lib/servers.mjs';
import { onStage, startOn } from './lib/stage.mjs';

/**
 * Maximum ratio of the other caller's median response time during an abuse to the median without it. A median below
 * {@link SMALL_MS} is always allowed.
 */
const MOST = 2;
const SMALL_MS = 2;
/** Maximum response time of `/livez` in milliseconds, without the time in which the gateway waited for a core. */
const LIVEZ_MS = 100;

const options = readOptions({ seconds: '4' });
const chosen = servers.find(({ name }) => name === (options.embedded ? 'gateway-embedded' : 'gateway'));
const server = { ...chosen, env: { ...chosen.env, TRUST_PROXY: '127.0.0.1' } };
/** The heap for which docs/bounds.md states the memory of a process. */
const NODE_FLAGS = ['--max-old-space-size=256'];

const observe = startObserver();

const median = (latencies) => latencies[Math.floor(latencies.length / 2)];

/** The resident memory of a process, in bytes. */
const memoryOf = (pid) => 1024 * Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);

/**
 * Runs an abuse, and measures another caller and `/livez` before and during the abuse.
 * @returns why the abuse fails, as a list of texts.
 */
async function measure(name, abuse, gateway, database) {
  const { url, port, pid } = gateway;
  const context = { url, port, database, key: API_KEY, isEmbedded: options.embedded, memory: () => memoryOf(pid) };
  const prepared = await abuse.prepare?.(context);
  const during = (run) => {
    const until = performance.now() + options.seconds * 1000;
    const observed = observe(gateway, options.seconds, { isLivezOnly: abuse.isCold });
    return Promise.all([run?.({ ...context, until, prepared }), observed]);
  };
  const [, quiet] = abuse.isCold ? [] : await during(abuse.ordinary);
  const [result, meanwhile] = await during(abuse);
  const { livez } = meanwhile;
  const { answer = result, failure } = result;
  const failures = failure ? [failure] : [];
  const told = [answer];
  if (quiet) {
    const [without, withAbuse] = [median(quiet.latencies), median(meanwhile.latencies)];
    const rejected = [...meanwhile.failures.values()].reduce((sum, count) => sum + count, 0);
    told.push(`the other caller's median ${without.toFixed(1)} → ${withAbuse.toFixed(1)} ms`);
    if (rejected) failures.push(`${rejected} requests of the other caller were rejected`);
    if (withAbuse > Math.max(SMALL_MS, MOST * without, without + (abuse.allowedMs ?? 0)))
      failures.push('the other caller was slowed down');
  }
  told.push(`/livez at most ${livez.withoutWaits.toFixed(0)} ms (${livez.all.toFixed(0)} with waits for a core)`);
  if (livez.withoutWaits > LIVEZ_MS) failures.push(`/livez took more than ${LIVEZ_MS} ms`);
  console.log(`${name}: ${told.join('; ')}${failures.length ? `. FAILED: ${failures.join('; ')}` : ''}`);
  return failures;
}

pinLoad();
await onStage(
  [server],
  options.database,
  async ({ url: database, running: [shared] }) => {
    // The first `fetch` in a thread takes up to 100 ms.
    await observe(shared, 0.1, { isLivezOnly: true });
    await observe(shared, options.warmup);
    for (const [name, abuse] of Object.entries(ABUSES)) {
      if (options.only && !options.only.includes(name)) continue;
      if (options.embedded && abuse.onPostgres) continue;
      const attempt = async () => {
        if (!abuse.env && !abuse.isCold) return measure(name, abuse, shared, database);
        const own = await startOn(database, { ...server, env: { ...server.env, ...abuse.env } }, NODE_FLAGS);
        if (!abuse.isCold) await observe(own, options.warmup);
        const failures = await measure(name, abuse, own, database);
        await own.stop();
        return failures;
      };
      // The speed of a shared machine changes. So a failed row is measured twice more, and fails if one of these fails.
      if ((await attempt()).length && ((await attempt()).length || (await attempt()).length)) process.exitCode = 1;
    }
  },
  NODE_FLAGS,
);
