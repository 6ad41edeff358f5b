import type { FastifyBaseLogger } from 'fastify';
import type { Config } from '../config';
import { Replicas } from '../database/replicas/replicas';

/** The replicas of the database; `undefined` if there are none. */
export async function openReplicas(config: Config, logger: FastifyBaseLogger): Promise<Replicas | undefined> {
  const { DATABASE_URL, DATABASE_REPLICA_URLS: urls } = config;
  if (!DATABASE_URL || !urls) return undefined;
  return Replicas.open({
    primaryUrl: DATABASE_URL,
    urls,
    maxLagMs: config.REPLICA_MAX_LAG_MS,
    poolSize: config.DATABASE_POOL_SIZE,
    queue: config.DATABASE_QUEUE,
    requestTimeoutMs: config.REQUEST_TIMEOUT_MS,
    isTraced: config.OTEL_EXPORTER_OTLP_ENDPOINT !== undefined,
    onChange: (replica, isUsed, reason) =>
      isUsed ? logger.info({ replica }, 'replica in use') : logger.warn({ replica, reason }, 'replica not in use'),
  });
}
