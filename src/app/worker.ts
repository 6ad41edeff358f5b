import type { Worker } from 'node:cluster';
import { setTimeout as sleep } from 'node:timers/promises';
import { AggregatorRegistry } from 'prom-client';
import type { Config } from './config';
import { openService } from './service';
import { fail } from './shutdown';

/** Time for all workers to close the port, in milliseconds. Only then connections are closed, and clients cannot reconnect here. */
const ALL_CLOSED_MS = 500;

/** Time for the primary to pass on a connection that it has accepted, in milliseconds. */
const PASSED_ON_MS = 50;

/** Serves in one of several processes on the same port. */
export async function startWorker(config: Config, worker: Worker): Promise<void> {
  const service = await openService(config);
  if (config.METRICS_PORT !== undefined) {
    AggregatorRegistry.setRegistries(service.metrics.collect());
    // The constructor makes this process answer the primary's requests for metrics.
    new AggregatorRegistry();
  }
  const report = await service.listen();

  let isEnding = false;
  const end = (delayMs: number) => {
    if (isEnding) return;
    isEnding = true;
    const ended = service
      .closePort(delayMs, () => sleep(PASSED_ON_MS))
      .then(() => sleep(ALL_CLOSED_MS))
      .then(() => service.finish());
    ended.then(() => process.exit(0), fail);
  };
  // A terminal signals every process, and the primary forwards the signal. Only the first counts.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => end(config.SHUTDOWN_DELAY_MS));
  // The primary was killed, so the port is closed.
  worker.once('disconnect', () => {
    worker.exitedAfterDisconnect = true; // otherwise Node ends the process right after this event
    end(0);
  });
  worker.send({ serving: report });
}
