import type { Worker } from 'node:cluster';
import { createBirpc } from 'birpc';
import type { Config } from '../config';
import { channelTo, type PrimaryCalls, type WorkerCalls } from './calls';
import { fail, messageOf } from './ending';
import { openService, type Service } from './service';

/** One of several processes that serve the same port; the primary tells it when to stop. */
export async function startWorker(config: Config, worker: Worker): Promise<void> {
  // A terminal or a container signals every process, but only the primary decides what to do.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => undefined);
  let service: Service;
  const finish = () => void service.finish().then(() => process.exit(0), fail);
  const primary = createBirpc<PrimaryCalls, WorkerCalls>(
    {
      samples: () => service.metrics.samples(),
      closePort: (): Promise<void> => service.closePort(config.SHUTDOWN_DELAY_MS, () => primary.accepted()),
      finish,
    },
    channelTo(worker),
  );
  try {
    service = await openService(config, { text: () => primary.metrics() });
    const report = await service.listen();
    whenOrphaned(worker, () => void service.closePort(0).then(finish, fail));
    await primary.serving(report);
  } catch (error) {
    await primary.failed(messageOf(error));
    process.exit(1);
  }
}

/** A primary that is killed takes the port with it; its workers answer what they have accepted, and exit. */
function whenOrphaned(worker: Worker, end: () => void): void {
  worker.once('disconnect', () => {
    worker.exitedAfterDisconnect = true; // otherwise Node, which has no option for it, ends the process right after this
    end();
  });
}
