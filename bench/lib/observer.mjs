// Another caller, which sends requests during an abuse. It has its own thread, since its requests and responses would otherwise
// wait while the thread of the abuse is busy.
import { once } from 'node:events';
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
 * of the other caller (unless `isLivezOnly`), and the response time of the slowest `/livez` in milliseconds.
 */
export function startObserver() {
  const worker = new Worker(new URL(import.meta.url));
  worker.unref();
  return async ({ port }, seconds, { isLivezOnly = false } = {}) => {
    worker.postMessage({ port, seconds, isLivezOnly });
    const [observed] = await once(worker, 'message');
    return observed;
  };
}

parentPort?.on('message', async ({ port, seconds, isLivezOnly }) => {
  const [caller, livez] = await Promise.all([
    isLivezOnly ? undefined : load(port, requestsOf(port), { connections: CONNECTIONS, seconds }),
    slowestLivez(port, seconds),
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

async function slowestLivez(port, seconds) {
  const until = performance.now() + seconds * 1000;
  let slowest = 0;
  while (performance.now() < until) {
    const started = performance.now();
    await (await fetch(`http://127.0.0.1:${port}/livez`)).arrayBuffer();
    slowest = Math.max(slowest, performance.now() - started);
    await sleep(LIVEZ_EVERY_MS);
  }
  return slowest;
}
