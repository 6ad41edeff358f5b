import cluster from 'node:cluster';
import type { Config } from '../config';
import { createLogger } from '../http/observation/logger';
import { serveMetrics } from '../http/routes/metrics-server';
import { banner } from './banner';
import { stopOnSignals } from './ending';
import { Crew } from './worker-pool';

/** Starts and supervises workers; serves nothing itself except their metrics. */
export async function lead(config: Config): Promise<void> {
  // Samples may be NaN, which JSON turns into null.
  cluster.setupPrimary({ serialization: 'advanced' });
  const crew = new Crew(config.WEB_CONCURRENCY, createLogger(config.LOG_LEVEL, config.WEB_CONCURRENCY));
  stopOnSignals(
    () => crew.stop(config.SHUTDOWN_DELAY_MS),
    () => crew.kill(),
  );
  try {
    const metricsAt = await serveMetrics(crew.metrics, config.METRICS_PORT, config.HOST);
    await crew.start((report) =>
      process.stdout.write(banner(report, { metricsAt, workers: config.WEB_CONCURRENCY })),
    );
  } catch (error) {
    if (crew.isStopping) return;
    crew.kill();
    throw error;
  }
}
