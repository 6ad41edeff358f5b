import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client';
import { ERRORS } from '../errors/codes';
import type { ProblemSummary } from '../errors/errors';
import { type Metric, register } from './metric';

/** A source of metrics in the text format of Prometheus: this process, or all processes of an instance together. */
export interface Exposition {
  text(): Promise<string>;
}

/** The interface that a request called. `other` stands for health checks, metrics, pages, and paths that do not exist. */
export type Interface = 'graphql' | 'rest' | 'other';

/** The error with the highest status in a response. */
export interface ObservedError extends ProblemSummary {
  readonly interface: Interface;
}

const INTERFACES: readonly Interface[] = ['graphql', 'rest', 'other'];

/** Upper bounds of the histogram's buckets, in seconds. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Number of durations in a batch. Recording batches is several times faster than recording each duration separately. */
const AT_ONCE = 256;

/**
 * The metrics of this process. No label has a value that a client can choose, so the number of series is bounded. A request
 * updates only the metrics of durations and of errors. The values of all other metrics are read when metrics are collected.
 */
export class Metrics implements Exposition {
  private readonly registry = new Registry();
  private readonly durations = new Histogram({
    name: 'petstore_request_duration_seconds',
    help: 'Request duration in seconds, by operation (operationId, or GraphQL root field) and status class (of the HTTP status, or of the worst GraphQL error).',
    labelNames: ['operation', 'status'],
    buckets: BUCKETS,
    registers: [this.registry],
    collect: () => this.record(),
  });
  private readonly errors = new Counter({
    name: 'petstore_errors_total',
    help: 'Requests answered with errors, by the code of the worst error and by interface.',
    labelNames: ['code', 'interface'],
    registers: [this.registry],
  });
  private waiting: { readonly operation: string; readonly status: number; readonly ms: number }[] = [];
  private hasProcessMetrics = false;

  /** @param metrics the metrics that are read on collection. */
  constructor(metrics: readonly Metric[]) {
    register(metrics, this.registry);
    // Starts each series of server errors at 0. If a series began with its first error, alerts would miss this error.
    for (const [code, { status }] of Object.entries(ERRORS))
      for (const each of status >= 500 ? INTERFACES : []) this.errors.inc({ code, interface: each }, 0);
  }

  text(): Promise<string> {
    return this.collect().metrics();
  }

  /**
   * The registry. The first call adds Node's default metrics. They are not added earlier, since they cost CPU time even if
   * they are never collected.
   */
  collect(): Registry {
    if (!this.hasProcessMetrics) collectDefaultMetrics({ register: this.registry });
    this.hasProcessMetrics = true;
    return this.registry;
  }

  observeError({ code, interface: by }: ObservedError): void {
    this.errors.inc({ code, interface: by });
  }

  /**
   * Records the duration of a request.
   * @param status the HTTP status. For a GraphQL operation with errors, the highest status of its errors, since the HTTP
   * status may be 200.
   * @param ms time from the headers of the request to the end of its response.
   */
  observe(operation: string, status: number, ms: number): void {
    if (this.waiting.push({ operation, status, ms }) === AT_ONCE) this.record();
  }

  private record(): void {
    for (const { operation, status, ms } of this.waiting)
      this.durations.observe({ operation, status: `${Math.floor(status / 100)}xx` }, ms / 1000);
    this.waiting = [];
  }
}
