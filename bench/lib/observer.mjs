// Another caller, which sends requests during an abuse. It has its own thread, since its requests and responses would otherwise
// wait while the thread of the abuse is busy.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, Worker } from 'node:worker_threads';
import { load } from './load.mjs';
import { API_KEY } from './servers.mjs';

/** Number of connections of the other caller. With so few, its requests are delayed by the abuse and not by each other. */
const CONNECTIONS = 2;
const LIVEZ_EVERY_MS = 20;

/**
 * Starts the thread.
 * @returns a function that sends requests to a gateway for some seconds, and returns the sorted `latencies` and the `failures`
 * of the other caller (unless `isLivezOnly`), and `livez`: the longest response time of `/livez` in milliseconds, in `all`
 * and `withoutWaits`: without the time in which the gateway waited for a core.
 */
export function startObserver() {
  const worker = new Worker(new URL(import.meta.url));
  worker.unref();
  return async ({ port, pid }, seconds, { isLivezOnly = false } = {}) => {
    worker.postMessage({ port, pid, seconds, isLivezOnly });
    const [observed] = await once(worker, 'message');
    return observed;
  };
}

parentPort?.on('message', async ({ port, pid, seconds, isLivezOnly }) => {
  const [caller, livez] = await Promise.all([
    isLivezOnly ? undefined : load(port, requestsOf(port), { connections: CONNECTIONS, seconds }),
    slowestLivez(port, pid, seconds),
  ]);
  parentPort.postMessage({ ...caller, livez });
});

const requestsOf = (port) =>
  Array.from({ length: 1000 }, (_, i) =>
    Buffer.from(
      [
        `GET /pets?id=${i + 1} HTTP/1.1`,
        `host: 127.0.0.1:${port}`,
        'x-forwarded-for: 198.51.100.7',
        `x-api-key: ${API_KEY}`,
        '',
        '',
      ].join('\r\n'),
    ),
  );

/**
 * How long the main thread of a process has waited for a core, in milliseconds since the start of the process. Other threads and
 * processes had the core in this time: PostgreSQL, the benchmark itself, and V8's threads.
 */
const waitedForCore = (pid) => Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[1]) / 1e6;

async function slowestLivez(port, pid, seconds) {
  const until = performance.now() + seconds * 1000;
  const livez = { all: 0, withoutWaits: 0 };
  while (performance.now() < until) {
    const [started, waited] = [performance.now(), waitedForCore(pid)];
    await (await fetch(`http://127.0.0.1:${port}/livez`)).arrayBuffer();
    const ms = performance.now() - started;
    livez.all = Math.max(livez.all, ms);
    livez.withoutWaits = Math.max(livez.withoutWaits, ms - (waitedForCore(pid) - waited));
    await sleep(LIVEZ_EVERY_MS);
  }
  return livez;
}
