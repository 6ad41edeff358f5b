import type { Worker } from 'node:cluster';
import { setTimeout as sleep } from 'node:timers/promises';
import { AggregatorRegistry } from 'prom-client';
import type { Config } from './config';
import { openService } from './service';
import { fail } from './shutdown';

/** Within this time all workers have closed the port: a client whose connection is then closed finds no port to open another. */
const ALL_CLOSED_MS = 500;

/** Within this time the primary passes on a connection that it has accepted. */
const PASSED_ON_MS = 50;

/** One of several processes that serve the same port. */
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
  // A terminal signals every process, and the primary passes the signal on: the first one counts.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => end(config.SHUTDOWN_DELAY_MS));
  // A primary that is killed takes the port with it.
  worker.once('disconnect', () => {
    worker.exitedAfterDisconnect = true; // otherwise Node, which has no option for it, ends the process right after this
    end(0);
  });
  worker.send({ serving: report });
}
