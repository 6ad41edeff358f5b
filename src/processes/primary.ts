import cluster from 'node:cluster';
import type { Config } from '../config';
import { createLogger } from '../http/observation/logger';
import { serveMetrics } from '../http/routes/metrics-server';
import { announce } from './banner';
import { stopOnSignals } from './ending';
import { WorkerPool } from './worker-pool';

/** Starts and supervises workers; serves nothing itself except their metrics. */
export async function startPrimary(config: Config): Promise<void> {
  // Samples may be NaN, which JSON turns into null.
  cluster.setupPrimary({ serialization: 'advanced' });
  const pool = new WorkerPool(config.WEB_CONCURRENCY, createLogger(config.LOG_LEVEL, config.WEB_CONCURRENCY));
  stopOnSignals(
    () => pool.stop(config.SHUTDOWN_DELAY_MS),
    () => pool.kill(),
  );
  try {
    const metricsAt = await serveMetrics(pool.metrics, config.METRICS_PORT, config.HOST);
    await pool.start((report) => announce(report, { metricsAt, workers: config.WEB_CONCURRENCY }));
  } catch (error) {
    if (pool.isStopping) return;
    pool.kill();
    throw error;
  }
}
