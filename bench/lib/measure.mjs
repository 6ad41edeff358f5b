import { costOf } from './cost.mjs';
import { load } from './load.mjs';

const SAMPLE_MS = 250;

/**
 * One server under one work for some seconds.
 * @returns CPU-ms per request, requests per second, p50 and p99 in ms, the highest resident memory in MiB, the first failure
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
    failure: [...failures].map(([text, times]) => `${times} of ${result.requests} answered ${text}`)[0],
  };
}

function percentile(sorted, share) {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

/** The least noisy figure of several rounds: what else ran on the machine only ever adds. */
export function best(rounds) {
  const least = (figure) => Math.min(...rounds.map(figure));
  const most = (figure) => Math.max(...rounds.map(figure));
  return {
    cpuMs: least(({ cpuMs }) => cpuMs),
    spread: most(({ cpuMs }) => cpuMs) / least(({ cpuMs }) => cpuMs) - 1,
    perSecond: most(({ perSecond }) => perSecond),
    p50: least(({ p50 }) => p50),
    p99: least(({ p99 }) => p99),
    rssMb: most(({ rssMb }) => rssMb),
  };
}
