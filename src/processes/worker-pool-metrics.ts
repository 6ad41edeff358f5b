import { AggregatorRegistry, Counter, Gauge, Registry } from 'prom-client';
import type { Exposition, Samples } from '../http/observation/metrics';
import { inTime } from '../rate-limit/in-time';
import type { RemoteWorker } from './remote-worker';

/** How long a worker may take to return its samples; for a slower one the previous samples are used. */
const PATIENCE_MS = 1000;

/** The source of the metrics about the workers themselves. */
export interface Counted {
  readonly workers: ReadonlySet<RemoteWorker>;
  readonly losses: number;
}

/** The aggregated samples of all workers, with the last counts of those that have ended: a counter never goes down. */
export class CrewMetrics implements Exposition {
  readonly contentType = Registry.PROMETHEUS_CONTENT_TYPE;
  private readonly own = new Registry();
  private readonly last = new Map<RemoteWorker, Samples>();
  private past: Samples = [];
  private gathering: Promise<string> | undefined;

  constructor(private readonly crew: Counted) {
    new Gauge({
      name: 'petstore_workers',
      help: 'Workers that accept connections.',
      registers: [this.own],
      collect() {
        this.set([...crew.workers].filter(({ isServing }) => isServing).length);
      },
    });
    new Counter({
      name: 'petstore_workers_lost_total',
      help: 'Workers that ended unexpectedly and were restarted.',
      registers: [this.own],
      collect() {
        this.reset();
        this.inc(crew.losses);
      },
    });
  }

  /** Concurrent calls share one collection. */
  text(): Promise<string> {
    this.gathering ??= this.gather().finally(() => {
      this.gathering = undefined;
    });
    return this.gathering;
  }

  private async gather(): Promise<string> {
    const { workers } = this.crew;
    await Promise.allSettled(
      [...workers]
        .filter(({ isServing }) => isServing)
        .map(async (worker) => this.last.set(worker, await inTime(worker.calls.samples(), PATIENCE_MS))),
    );
    for (const [worker, samples] of this.last) {
      if (workers.has(worker)) continue;
      this.last.delete(worker);
      this.past = await sum([this.past, samples.filter(isCount)]).getMetricsAsJSON();
    }
    return sum([...this.last.values(), this.past, await this.own.getMetricsAsJSON()]).metrics();
  }
}

function sum(samples: Samples[]): Registry {
  return AggregatorRegistry.aggregate(samples);
}

/** Whether a metric outlives its process. The package's types declare `type` as a number. */
function isCount({ type }: { type: unknown }): boolean {
  return type !== 'gauge';
}
