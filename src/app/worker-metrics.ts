import type { Worker } from 'node:cluster';
import { on } from 'node:events';
import { AggregatorRegistry, type Registry } from 'prom-client';

/** How long a worker may take to report its metrics, in milliseconds. */
const PATIENCE_MS = 5_000;

/** A message from the primary process to a worker. */
interface MetricsRequest {
  /** The number of the request. */
  readonly metricsRequest: number;
}

/** The worker's answer. */
interface MetricsReport {
  /** The number of the request. */
  readonly reportOn: number;
  readonly metrics: object[];
}

/** Makes a worker report its metrics when the primary process asks for them. */
export function reportMetrics(worker: Worker, registry: Registry): void {
  worker.on('message', async ({ metricsRequest }: Partial<MetricsRequest>) => {
    if (metricsRequest === undefined) return;
    const report: MetricsReport = { reportOn: metricsRequest, metrics: await registry.getMetricsAsJSON() };
    // If the message cannot be sent, the primary process has ended.
    worker.send(report, () => undefined);
  });
}

/**
 * The metrics of all these workers together, as text. The aggregator of prom-client would also wait for workers that are still
 * starting, which do not answer.
 * @throws AbortError if a worker does not answer in time.
 */
export async function metricsOfWorkers(workers: Iterable<Worker>): Promise<string> {
  const reports = await Promise.all([...workers].map(metricsOf));
  return AggregatorRegistry.aggregate(reports).metrics();
}

let requests = 0;

/** The metrics of a worker; none if it exits. */
async function metricsOf(worker: Worker): Promise<object[]> {
  const id = ++requests;
  const signal = AbortSignal.timeout(PATIENCE_MS);
  const messages = on(worker, 'message', { signal, close: ['exit'] });
  // If the message cannot be sent, the worker is about to exit.
  worker.send({ metricsRequest: id } satisfies MetricsRequest, () => undefined);
  for await (const [{ reportOn, metrics }] of messages as AsyncIterable<[Partial<MetricsReport>]>)
    if (reportOn === id && metrics) return metrics;
  return [];
}
