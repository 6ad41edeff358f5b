import { Histogram, type Registry } from 'prom-client';

/** Seconds. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Observations are recorded in batches of this size: one by one, each would take several times as long. */
const AT_ONCE = 256;

type Child = { observe(seconds: number): void };

/** Request durations, as a Prometheus histogram. */
export class Durations {
  private readonly histogram: Histogram<'operation' | 'status'>;
  /** By operation, then by the first digit of the status. */
  private readonly children = new Map<string, Child[]>();
  private observed: { readonly child: Child; readonly seconds: number }[] = [];

  constructor(registry: Registry) {
    this.histogram = new Histogram({
      name: 'petstore_request_duration_seconds',
      help: 'Request duration in seconds, by operation (operationId, or GraphQL root field) and status class.',
      labelNames: ['operation', 'status'],
      buckets: BUCKETS,
      registers: [registry],
    });
  }

  /** @param ms time from the head of the request to the end of its response. */
  observe(operation: string, status: number, ms: number): void {
    const child = this.child(operation, Math.floor(status / 100));
    if (this.observed.push({ child, seconds: ms / 1000 }) === AT_ONCE) this.count();
  }

  /** Records pending observations; to be called before the histogram is read. */
  count(): void {
    for (const { child, seconds } of this.observed) child.observe(seconds);
    this.observed = [];
  }

  private child(operation: string, statusClass: number): Child {
    let byStatus = this.children.get(operation);
    if (!byStatus) {
      byStatus = [];
      this.children.set(operation, byStatus);
    }
    byStatus[statusClass] ??= this.histogram.labels(operation, `${statusClass}xx`);
    return byStatus[statusClass];
  }
}
