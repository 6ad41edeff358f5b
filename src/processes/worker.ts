import cluster from 'node:cluster';
import { createBirpc } from 'birpc';
import { Registry } from 'prom-client';
import type { Config } from '../config';
import { NO_TIMEOUT, type PrimaryCalls, type WorkerCalls } from './calls';
import { fail, messageOf } from './ending';
import { prepare, type Service } from './service';

/** One of several processes that serve on the same port; its primary tells it when to end. */
export async function work(config: Config): Promise<void> {
  // Of a terminal or a container they reach each process; what is to be done is the primary's to say.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => undefined);
  let service: Service;
  const finish = () => void service.finish().then(() => process.exit(0), fail);
  const primary = createBirpc<PrimaryCalls, WorkerCalls>(
    {
      samples: () => service.metrics.samples(),
      closePort: () => service.closePort(),
      finish,
    },
    {
      post: (message) => void (process.connected && process.send?.(message, () => undefined)),
      on: (listener) => process.on('message', listener),
      timeout: NO_TIMEOUT,
    },
  );
  try {
    service = await prepare(config, {
      contentType: Registry.PROMETHEUS_CONTENT_TYPE,
      text: () => primary.metrics(),
    });
    const report = await service.listen();
    whenOrphaned(() => void service.closePort(0).then(finish, fail));
    await primary.serving(report);
  } catch (error) {
    await primary.failed(messageOf(error));
    process.exit(1);
  }
}

/** A primary that is killed takes the port with it; its workers answer what they have accepted. */
function whenOrphaned(end: () => void): void {
  const { worker } = cluster;
  worker?.once('disconnect', () => {
    worker.exitedAfterDisconnect = true; // otherwise Node ends the process right after this
    end();
  });
}
