import { collectDefaultMetrics, Histogram, Registry } from 'prom-client';
import { register } from './metric';
import { METRICS, type Observed } from './metric-table';

/** Metrics for Prometheus: of this process, or of all processes that serve together. */
export interface Exposition {
  text(): Promise<string>;
}

/** The metrics of one process, for the primary to aggregate. */
export type Samples = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

/** Seconds. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Durations are recorded in batches of this size: one by one, each would take several times as long. */
const AT_ONCE = 256;

/**
 * The metrics of this process. No label has a value that a client chooses. A request costs one observation; everything
 * else is read on collection.
 */
export class Metrics implements Exposition {
  private readonly registry = new Registry();
  private readonly durations = new Histogram({
    name: 'petstore_request_duration_seconds',
    help: 'Request duration in seconds, by operation (operationId, or GraphQL root field) and status class.',
    labelNames: ['operation', 'status'],
    buckets: BUCKETS,
    registers: [this.registry],
  });
  private waiting: { readonly operation: string; readonly status: number; readonly ms: number }[] = [];
  private hasProcessMetrics = false;

  constructor(observed: Observed) {
    register(METRICS, observed, this.registry);
  }

  text(): Promise<string> {
    return this.complete().metrics();
  }

  samples(): Promise<Samples> {
    return this.complete().getMetricsAsJSON();
  }

  /** @param ms time from the head of the request to the end of its response. */
  observe(operation: string, status: number, ms: number): void {
    if (this.waiting.push({ operation, status, ms }) === AT_ONCE) this.record();
  }

  private record(): void {
    for (const { operation, status, ms } of this.waiting)
      this.durations.observe({ operation, status: `${Math.floor(status / 100)}xx` }, ms / 1000);
    this.waiting = [];
  }

  /** Node's own metrics have a cost, so they start with the first collection. */
  private complete(): Registry {
    this.record();
    if (!this.hasProcessMetrics) collectDefaultMetrics({ register: this.registry });
    this.hasProcessMetrics = true;
    return this.registry;
  }
}
