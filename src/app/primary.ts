import cluster, { type Worker } from 'node:cluster';
import { AggregatorRegistry, type PrometheusContentType } from 'prom-client';
import { createLogger } from '../http/logger';
import { counter, gauge, type Metric, register } from '../http/metric';
import { serveMetrics } from '../http/metrics-server';
import { announce, type Report } from './banner';
import type { Config } from './config';
import { fail, stopOnSignals } from './shutdown';

/** Delay before a worker that ended is replaced. */
const RESTART_MS = 1_000;
/** Longer than a worker takes to shut down. A worker that takes longer is killed. */
const PATIENCE_MS = 15_000;

interface Pool {
  /** The workers that accept connections. */
  readonly serving: Set<Worker>;
  lost: number;
  phase: 'starting' | 'running' | 'stopping';
}

/** The metrics of the primary process. */
export const poolMetrics = (pool?: Pool): readonly Metric[] => [
  gauge('workers', 'Workers that accept connections.', () => pool?.serving.size),
  counter('workers_lost_total', 'Workers that ended unexpectedly.', () => pool?.lost),
];

/** Starts and replaces the workers; serves nothing itself except their metrics. */
export async function startPrimary(config: Config): Promise<void> {
  // Samples may be NaN, which JSON turns into null.
  cluster.setupPrimary({ serialization: 'advanced' });
  const { WEB_CONCURRENCY: size, SHUTDOWN_DELAY_MS } = config;
  const logger = createLogger(config.LOG_LEVEL, size);
  const pool: Pool = { serving: new Set(), lost: 0, phase: 'starting' };
  const registry = new AggregatorRegistry<PrometheusContentType>();
  register(poolMetrics(pool), registry);
  const metrics = { text: async () => `${await registry.clusterMetrics()}\n${await registry.metrics()}` };
  stopOnSignals(() => stop(pool, SHUTDOWN_DELAY_MS), kill);
  const metricsAt = await serveMetrics(metrics, config.METRICS_PORT, config.HOST);

  cluster.on('message', (worker, { serving: report }: { serving?: Report }) => {
    if (!report || pool.phase === 'stopping') return;
    pool.serving.add(worker);
    if (pool.serving.size === size) pool.phase = 'running';
    if (running().length >= size) return;
    announce(report, { metricsAt, workers: size });
    while (running().length < size) fork();
  });
  cluster.on('exit', (worker, code: number | null, signal: string | null) => {
    pool.serving.delete(worker);
    if (pool.phase === 'stopping') return;
    const cause = `a worker exited with ${signal ?? code}`;
    if (pool.phase === 'starting') {
      kill();
      if (code) process.exit(code); // the worker has printed why
      return fail(new Error(cause));
    }
    pool.lost += 1;
    logger.error({ worker: worker.process.pid, cause }, 'worker exited');
    setTimeout(() => pool.phase === 'running' && fork(), RESTART_MS);
  });
  // The first worker starts alone and migrates the database if necessary, so that only one reports an error.
  fork();
}

/** A process that cannot be created ends the primary process, whose supervisor starts it again. */
function fork(): void {
  const worker = cluster.fork();
  // For a worker that runs, an error is a lost message.
  worker.on('error', (error) => worker.process.pid === undefined && fail(error));
}

/**
 * Passes the stop signal on to the workers, and resolves once they have ended: at the latest 15 seconds after `delayMs`.
 * @throws Error if a worker did not exit cleanly.
 */
async function stop(pool: Pool, delayMs: number): Promise<void> {
  pool.phase = 'stopping';
  setTimeout(kill, delayMs + PATIENCE_MS).unref();
  const endings = running().map(async (worker) => {
    const isServing = pool.serving.has(worker);
    const ended = new Promise<string | number>((resolve) => {
      worker.on('exit', (code: number, signal: string | null) => resolve(signal ?? code));
    });
    worker.process.kill(isServing ? 'SIGTERM' : 'SIGKILL');
    return isServing ? ended : 0;
  });
  const bad = (await Promise.all(endings)).find((ending) => ending !== 0);
  if (bad !== undefined) throw new Error(`a worker exited with ${bad} during shutdown`);
}

function kill(): void {
  for (const worker of running()) worker.process.kill('SIGKILL');
}

function running(): Worker[] {
  return Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
}
