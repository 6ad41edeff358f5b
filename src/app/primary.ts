import cluster, { type Worker } from 'node:cluster';
import { Registry } from 'prom-client';
import { createLogger, lostLogLines } from '../http/logger';
import { counter, gauge, type Metric, register } from '../http/metric';
import { serveMetrics } from '../http/metrics-server';
import { announce, type Report } from './banner';
import type { Config } from './config';
import { PRIMARY_PID } from './environment';
import { fail, stopOnSignals } from './shutdown';
import { metricsOfWorkers } from './worker-metrics';

/** Delay before a worker that exited is replaced, in milliseconds. */
const RESTART_MS = 1_000;
/** Time after which a worker that has not shut down is killed, in milliseconds. */
const STOP_MS = 15_000;

interface Pool {
  /** The workers that accept connections. */
  readonly serving: Set<Worker>;
  lost: number;
  phase: 'starting' | 'running' | 'stopping';
}

/** The metrics that the primary process has about its workers. */
export const poolMetrics = (pool?: Pool): readonly Metric[] => [
  gauge('workers', 'Workers that accept connections.', () => pool?.serving.size),
  counter('workers_lost_total', 'Workers that ended unexpectedly.', () => pool?.lost),
  counter(
    'primary_log_lines_lost_total',
    'Log lines of the primary process that could not be written.',
    () => pool && lostLogLines(),
  ),
];

/** Starts and replaces the workers, and serves their metrics. */
export async function startPrimary(config: Config): Promise<void> {
  if (!cluster.isPrimary) throw new Error('WEB_CONCURRENCY must be 1 under a process manager that forks the gateway');
  // Workers send metrics with NaN values, which the default JSON serialization would turn into null.
  cluster.setupPrimary({ serialization: 'advanced' });
  const { WEB_CONCURRENCY: size, SHUTDOWN_DELAY_MS } = config;
  const logger = createLogger(config.LOG_LEVEL, size);
  const pool: Pool = { serving: new Set(), lost: 0, phase: 'starting' };
  const registry = new Registry();
  register(poolMetrics(pool), registry);
  const metrics = { text: async () => `${await metricsOfWorkers(pool.serving)}\n${await registry.metrics()}` };
  stopOnSignals(() => stop(pool, SHUTDOWN_DELAY_MS), SHUTDOWN_DELAY_MS + STOP_MS + RESTART_MS, kill);
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
      if (code) process.exit(code); // the worker has printed its error
      return fail(new Error(cause));
    }
    pool.lost += 1;
    logger.error({ worker: worker.process.pid, cause }, 'worker exited');
    setTimeout(() => pool.phase === 'running' && fork(), RESTART_MS);
  });
  // The first worker starts alone, and migrates the database if necessary. So a startup error is reported only once.
  fork();
}

/** Starts a worker. If the process cannot be created, the primary process exits, so that its supervisor restarts it. */
function fork(): void {
  const worker = cluster.fork({ [PRIMARY_PID]: process.pid });
  // Without a pid the process was not created. With a pid, the error is about a message that could not be sent.
  worker.on('error', (error) => worker.process.pid === undefined && fail(error));
}

/**
 * Sends SIGTERM to the workers, and waits until they have exited. Kills them `STOP_MS` after the shutdown delay.
 * @throws Error if a worker that served did not exit with code 0.
 */
async function stop(pool: Pool, delayMs: number): Promise<void> {
  pool.phase = 'stopping';
  setTimeout(kill, delayMs + STOP_MS).unref();
  const endings = running().map(async (worker) => {
    const isServing = pool.serving.has(worker);
    const ended = new Promise<string | number>((resolve) => {
      worker.on('exit', (code: number, signal: string | null) => resolve(signal ?? code));
    });
    worker.process.kill('SIGTERM');
    const ending = await ended;
    // A worker that has just been created has no handler for the signal yet.
    return isServing ? ending : 0;
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
