import type { Worker } from 'node:cluster';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from './config';
import { type Service, ServiceStart } from './service';
import { fail, STOP_SIGNALS } from './shutdown';
import { reportMetrics } from './worker-metrics';

/**
 * Time for all workers to close the port, in milliseconds. Connections are closed only after this time, so that reconnecting
 * clients cannot reach a worker that is shutting down.
 */
const ALL_CLOSED_MS = 500;

/** Time for the primary process to pass an accepted connection on to this worker, in milliseconds. */
const PASSED_ON_MS = 50;

/** Serves in a worker: one of several processes that share a port. */
export async function startWorker(config: Config, worker: Worker): Promise<void> {
  const start = new ServiceStart(config);
  let isEnding = false;
  const end = (delayMs: number) => {
    if (isEnding) return;
    isEnding = true;
    const close = async (service: Service) => {
      await service.closePort(delayMs, () => sleep(PASSED_ON_MS));
      await sleep(ALL_CLOSED_MS);
      await service.finish();
    };
    start.stop(close).then(() => process.exit(0), fail);
  };
  // Ctrl+C in a terminal sends SIGINT to every process, and the primary also sends SIGTERM. Only the first signal counts.
  for (const signal of STOP_SIGNALS) process.on(signal, () => end(config.SHUTDOWN_DELAY_MS));
  // This event means that the primary process, which held the port, was killed. No new connections can arrive, so the worker
  // stops without a delay.
  worker.once('disconnect', () => {
    worker.exitedAfterDisconnect = true; // without it, Node ends the process right after this event
    end(0);
  });
  const service = await start.opened;
  if (!service) return;
  if (config.METRICS_PORT !== undefined) reportMetrics(worker, service.metrics.collect());
  const report = await service.listen();
  worker.send({ serving: report });
}
