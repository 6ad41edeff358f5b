import { AggregatorRegistry, Registry } from 'prom-client';
import { counter, gauge, type Metric, register } from '../http/observation/metric';
import type { Exposition, Samples } from '../http/observation/metrics';
import { inTime } from '../rate-limit/in-time';
import type { RemoteWorker } from './remote-worker';

/** How long a worker may take to return its samples; for a slower one the previous samples are used. */
const PATIENCE_MS = 1000;

export interface Counted {
  readonly workers: ReadonlySet<RemoteWorker>;
  readonly losses: number;
}

export const POOL_METRICS: readonly Metric<Counted>[] = [
  gauge('workers', 'Workers that accept connections.', ({ workers }) => serving(workers).length),
  counter('workers_lost_total', 'Workers that ended unexpectedly and were restarted.', ({ losses }) => losses),
];

/**
 * The aggregated samples of all workers, with the last counts of those that have ended, so that no counter goes down. That
 * is why samples are gathered here: `AggregatorRegistry.clusterMetrics` forgets a worker when it ends.
 */
export class WorkerPoolMetrics implements Exposition {
  private readonly own = new Registry();
  private readonly last = new Map<RemoteWorker, Samples>();
  private past: Samples = [];
  private gathering: Promise<string> | undefined;

  constructor(private readonly pool: Counted) {
    register(POOL_METRICS, pool, this.own);
  }

  /** Concurrent calls share one collection. */
  text(): Promise<string> {
    this.gathering ??= this.gather().finally(() => {
      this.gathering = undefined;
    });
    return this.gathering;
  }

  private async gather(): Promise<string> {
    const { workers } = this.pool;
    await Promise.allSettled(
      serving(workers).map(async (worker) => this.last.set(worker, await inTime(worker.calls.samples(), PATIENCE_MS))),
    );
    for (const [worker, samples] of this.last) {
      if (workers.has(worker)) continue;
      this.last.delete(worker);
      this.past = await AggregatorRegistry.aggregate([this.past, samples.filter(isCount)]).getMetricsAsJSON();
    }
    const own = await this.own.getMetricsAsJSON();
    return AggregatorRegistry.aggregate([...this.last.values(), this.past, own]).metrics();
  }
}

function serving(workers: ReadonlySet<RemoteWorker>): RemoteWorker[] {
  return [...workers].filter(({ isServing }) => isServing);
}

/** Whether a metric outlives its process. The package's types declare `type` as a number. */
function isCount({ type }: { type: unknown }): boolean {
  return type !== 'gauge';
}
