import { costOf } from './cost.mjs';
import { load } from './load.mjs';

const SAMPLE_MS = 250;

/**
 * Measures one server under one workload for some seconds.
 * @returns CPU-ms per request, requests per second, p50 and p99 in ms, the highest resident memory in MiB, the first
 * failure
 */
export async function measure({ pid, port }, requests, options) {
  const before = costOf(pid);
  let rssMb = before.rssMb;
  const sampler = setInterval(() => {
    rssMb = Math.max(rssMb, costOf(pid).rssMb);
  }, SAMPLE_MS);
  const result = await load(port, requests, options);
  clearInterval(sampler);
  const after = costOf(pid);
  const { latencies, failures } = result;
  return {
    cpuMs: (after.cpuMs - before.cpuMs) / result.requests,
    perSecond: result.requests / result.seconds,
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
    rssMb: Math.max(rssMb, after.rssMb),
    failure: [...failures].map(([text, times]) => `${times} of ${result.requests} failed: ${text}`)[0],
  };
}

function percentile(sorted, share) {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

/**
 * The better quartile of each figure over several rounds (the 25th percentile of times); the maximum for memory. Other load
 * on the machine only makes figures worse, but a single best round may be luck. With three rounds, the quartile is the best
 * round.
 */
export function better(rounds) {
  const quartile = (figure, share) =>
    percentile(
      rounds.map(figure).sort((a, b) => a - b),
      share,
    );
  const cpu = rounds.map(({ cpuMs }) => cpuMs);
  return {
    cpuMs: quartile(({ cpuMs }) => cpuMs, 0.25),
    spread: Math.max(...cpu) / Math.min(...cpu) - 1,
    perSecond: quartile(({ perSecond }) => perSecond, 0.75),
    p50: quartile(({ p50 }) => p50, 0.25),
    p99: quartile(({ p99 }) => p99, 0.25),
    rssMb: Math.max(...rounds.map(({ rssMb }) => rssMb)),
  };
}
