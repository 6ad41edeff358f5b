import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { inTime } from '../rate-limit/in-time';
import { BackOff } from './back-off';
import type { Report } from './banner';
import { messageOf } from './ending';
import { type Ending, RemoteWorker } from './remote-worker';
import { WorkerPoolMetrics } from './worker-pool-metrics';

/** Longer than a worker takes to shut down; one that is stuck is then killed. */
const PATIENCE_MS = 15_000;
/** How long the others wait for a stuck worker to close its port. */
const CLOSING_MS = 6_000;

/** The workers that share a port. */
export class WorkerPool {
  readonly workers = new Set<RemoteWorker>();
  losses = 0;
  isStopping = false;
  readonly metrics = new WorkerPoolMetrics(this);

  constructor(
    private readonly size: number,
    private readonly logger: Logger,
  ) {}

  /**
   * Starts the first worker alone, which prepares the database if necessary, so that only one reports what is wrong; then
   * the others.
   * @param onServing called as soon as the first worker accepts connections.
   * @throws Error in one line if a worker ends before it accepts connections.
   */
  async start(onServing: (report: Report) => void): Promise<void> {
    onServing(await this.startOne());
    await Promise.all(Array.from({ length: this.size - 1 }, () => this.startOne()));
  }

  /**
   * Stops all workers without dropping what they have accepted, at the latest 15 seconds after `delayMs`.
   * @throws Error in one line if a worker did not exit cleanly.
   */
  async stop(delayMs: number): Promise<void> {
    this.isStopping = true;
    setTimeout(() => this.kill(), delayMs + PATIENCE_MS).unref();
    const workers = [...this.workers];
    const serving = workers.filter(({ isServing }) => isServing);
    for (const worker of workers) if (!worker.isServing) worker.kill();
    // All close the port before any closes a connection: its client opens a new one, which must find the port closed.
    await Promise.allSettled(serving.map(({ calls }) => inTime(calls.closePort(), delayMs + CLOSING_MS)));
    for (const { calls } of serving) void calls.finish.asEvent().catch(() => undefined);
    const endings = await Promise.all(serving.map(({ ended }) => ended));
    const bad = endings.find(({ code }) => code !== 0);
    if (bad) throw new Error(`${causeOf(bad)} during shutdown`);
  }

  kill(): void {
    for (const worker of this.workers) worker.kill();
  }

  private async startOne(): Promise<Report> {
    const worker = this.fork();
    const report = await worker.report;
    if (!report) throw new Error(causeOf(await worker.ended));
    void this.keep(worker);
    return report;
  }

  private async keep(worker: RemoteWorker): Promise<void> {
    const backOff = new BackOff();
    for (let ended = worker.ended; ; ended = this.startAgain()) {
      const ending = await ended;
      if (this.isStopping) return;
      this.losses += 1;
      const againInMs = backOff.after(ending.lived);
      this.logger.error({ worker: ending.pid, cause: causeOf(ending), againInMs }, 'worker exited');
      await sleep(againInMs);
      if (this.isStopping) return;
    }
  }

  private async startAgain(): Promise<Ending> {
    try {
      return await this.fork().ended;
    } catch (error) {
      // Node throws if there is no memory for another process; for other reasons it emits an event.
      return { pid: undefined, code: null, signal: null, reason: messageOf(error), lived: 0 };
    }
  }

  private fork(): RemoteWorker {
    const worker = new RemoteWorker(() => this.metrics.text());
    this.workers.add(worker);
    void worker.ended.then(() => this.workers.delete(worker));
    return worker;
  }
}

function causeOf({ reason, signal, code }: Ending): string {
  return reason ?? `a worker exited with ${signal ?? code}`;
}
