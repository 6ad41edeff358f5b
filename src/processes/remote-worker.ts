import cluster from 'node:cluster';
import { type BirpcReturn, createBirpc } from 'birpc';
import { turnOfTheLoop } from '../http/protection/drain';
import type { Report } from './banner';
import { channelTo, type PrimaryCalls, type WorkerCalls } from './calls';

export interface Ending {
  /** `undefined` for one that never ran. */
  readonly pid: number | undefined;
  readonly code: number | null;
  readonly signal: string | null;
  /** Why it could not start. */
  readonly reason: string | undefined;
  /** Milliseconds. */
  readonly lived: number;
}

/** A worker process, as its primary sees it. */
export class RemoteWorker {
  readonly calls: BirpcReturn<WorkerCalls, PrimaryCalls>;
  readonly ended: Promise<Ending>;
  /** Resolves once the worker accepts connections; to `undefined` if it ends before. */
  readonly report: Promise<Report | undefined>;
  isServing = false;
  private readonly worker = cluster.fork();

  /** @param metrics returns the metrics of all workers, to be served by this one. */
  constructor(metrics: () => Promise<string>) {
    const { worker } = this;
    const born = performance.now();
    let resolveReport: (report: Report) => void = () => undefined;
    const reported = new Promise<Report>((resolve) => {
      resolveReport = resolve;
    });
    let reason: string | undefined;
    this.calls = createBirpc<WorkerCalls, PrimaryCalls>(
      {
        serving: (report) => {
          this.isServing = true;
          resolveReport(report);
        },
        failed: (why) => {
          reason = why;
        },
        metrics,
        accepted: turnOfTheLoop,
      },
      channelTo(worker),
    );
    this.ended = new Promise((resolve) => {
      const end = (code: number | null, signal: string | null) => {
        this.isServing = false;
        this.calls.$close();
        resolve({ pid: this.pid, code, signal, reason, lived: performance.now() - born });
      };
      worker.on('exit', end);
      // A worker that could not be spawned (EAGAIN, EMFILE) emits no exit. For a running one this is only a lost message.
      worker.on('error', (error) => {
        if (this.pid !== undefined) return;
        reason = error.message;
        end(null, null);
      });
    });
    this.report = Promise.race([reported, this.ended.then(() => undefined)]);
  }

  get pid(): number | undefined {
    return this.worker.process.pid;
  }

  kill(): void {
    this.worker.process.kill('SIGKILL');
  }
}
