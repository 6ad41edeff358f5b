import cluster, { type Worker } from 'node:cluster';
import { AggregatorRegistry, type PrometheusContentType } from 'prom-client';
import { createLogger } from '../http/logger';
import { counter, gauge, type Metric, register } from '../http/metric';
import { serveMetrics } from '../http/metrics-server';
import { announce, type Report } from './banner';
import type { Config } from './config';
import { messageOf, stopOnSignals } from './shutdown';

/** Delay before a worker that ended is replaced. */
const RESTART_MS = 1_000;
/** Longer than a worker takes to shut down. A worker that takes longer is killed. */
const PATIENCE_MS = 15_000;

interface Pool {
  /** The workers that accept connections. */
  readonly serving: Set<Worker>;
  lost: number;
  isStopping: boolean;
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
  const pool: Pool = { serving: new Set(), lost: 0, isStopping: false };
  const registry = new AggregatorRegistry<PrometheusContentType>();
  register(poolMetrics(pool), registry);
  const metrics = { text: async () => `${await registry.clusterMetrics()}\n${await registry.metrics()}` };
  const start = () => startWorker(pool, (worker, cause) => logger.error({ worker, cause }, 'worker exited'));

  stopOnSignals(() => stop(pool, SHUTDOWN_DELAY_MS), kill);
  try {
    const metricsAt = await serveMetrics(metrics, config.METRICS_PORT, config.HOST);
    // The first worker starts alone and migrates the database if necessary, so that only one reports an error.
    announce(await start(), { metricsAt, workers: size });
    await Promise.all(Array.from({ length: size - 1 }, start));
  } catch (error) {
    if (pool.isStopping) return;
    kill();
    throw error;
  }
}

/**
 * Starts a worker, and another one whenever it ends. Resolves once the first accepts connections. If it exits before, so
 * does this process: the worker has printed why.
 * @throws Error if the first worker is killed, or cannot be started.
 */
function startWorker(pool: Pool, onLoss: (pid: number | undefined, cause: string) => void): Promise<Report> {
  return new Promise((resolve, reject) => {
    let hasServed = false;
    const replace = (pid: number | undefined, cause: string) => {
      if (pool.isStopping || !hasServed) return reject(new Error(cause));
      pool.lost += 1;
      onLoss(pid, cause);
      setTimeout(() => pool.isStopping || fork(), RESTART_MS);
    };
    const fork = () => {
      let worker: Worker;
      try {
        worker = cluster.fork();
      } catch (error) {
        return replace(undefined, messageOf(error)); // no memory for another process
      }
      const { process: child } = worker;
      worker.on('message', ({ serving: report }: { serving?: Report }) => {
        if (!report) return;
        hasServed = true;
        pool.serving.add(worker);
        resolve(report);
      });
      worker.on('exit', (code: number | null, signal: string | null) => {
        pool.serving.delete(worker);
        if (!hasServed && !pool.isStopping && code !== null) {
          kill();
          process.exit(code || 1);
        }
        replace(child.pid, `a worker exited with ${signal ?? code}`);
      });
      // A worker that cannot be spawned (EAGAIN, EMFILE) emits no exit. For a running worker the error is a lost message.
      worker.on('error', (error) => child.pid === undefined && replace(undefined, error.message));
    };
    fork();
  });
}

/**
 * Passes the stop signal on to the workers, and resolves once they have ended: at the latest 15 seconds after `delayMs`.
 * @throws Error if a worker did not exit cleanly.
 */
async function stop(pool: Pool, delayMs: number): Promise<void> {
  pool.isStopping = true;
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
