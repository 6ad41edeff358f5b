import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Registry } from 'prom-client';
import { ProblemError } from '../errors/errors';
import { readRoute } from './allowed-methods';
import type { Exposition } from './metrics';
import { METRICS_PATH } from './metrics-server';

/** Serves `/metrics` on the main port. Callers need a key with the scope ADMIN. */
export async function metricsRoute(app: FastifyInstance, { metrics }: { metrics: Exposition }): Promise<void> {
  readRoute(app, METRICS_PATH, {
    config: { metering: 'unmetered', logName: 'metrics', check: checkAccess },
    handler: async (_request, reply) =>
      reply
        .header('content-type', Registry.PROMETHEUS_CONTENT_TYPE)
        .header('cache-control', 'no-store')
        .send(await metrics.text()),
  });
}

/**
 * Replaces the metrics on the main port of a worker. Each request for metrics gets an error, since a worker does not have
 * the metrics of the other workers.
 */
export const OF_WORKERS: Exposition = {
  text: async () => {
    throw new ProblemError('NOT_FOUND', 'With WEB_CONCURRENCY above 1, metrics are served on METRICS_PORT only.');
  },
};

function checkAccess({ caller, keyProblem }: FastifyRequest): void {
  if (keyProblem !== undefined) throw keyProblem;
  if (caller.scopes.has('ADMIN')) return;
  throw caller.keyId
    ? new ProblemError('FORBIDDEN', 'Metrics need an API key with the scope ADMIN; this key does not have it.')
    : new ProblemError('UNAUTHENTICATED', 'Metrics need an API key with the scope ADMIN.');
}
