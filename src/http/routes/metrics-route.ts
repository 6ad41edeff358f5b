import { BlockList, isIPv6 } from 'node:net';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Registry } from 'prom-client';
import { ProblemError } from '../../errors/problem';
import { readRoute } from '../../rest/other-methods';
import { isForLoopback } from '../callers/local-access';
import type { Exposition } from '../observation/metrics';
import { METRICS_PATH } from './metrics-server';

/** `/metrics` on the main port: for this machine and admin keys only. */
export async function metricsRoute(app: FastifyInstance, { metrics }: { metrics: Exposition }): Promise<void> {
  readRoute(app, METRICS_PATH, {
    config: { metering: 'unmetered', operation: 'metrics' },
    onRequest: (request, _reply, done) => done(accessProblem(request)),
    handler: async (_request, reply) =>
      reply
        .header('content-type', Registry.PROMETHEUS_CONTENT_TYPE)
        .header('cache-control', 'no-store')
        .send(await metrics.text()),
  });
}

/** Stands in for the metrics of a worker, which are those of a part of the requests. */
export const OF_WORKERS: Exposition = {
  text: async () => {
    throw new ProblemError('NOT_FOUND', 'With WEB_CONCURRENCY above 1, metrics are served on METRICS_PORT only.');
  },
};

function accessProblem(request: FastifyRequest): ProblemError | undefined {
  const { scopes, apiKey } = request.caller;
  if (scopes.has('ADMIN') || isLocal(request)) return undefined;
  return apiKey
    ? new ProblemError('FORBIDDEN', 'Metrics need an API key with the scope ADMIN; this key does not have it.')
    : new ProblemError('UNAUTHENTICATED', 'Metrics need an API key with the scope ADMIN.');
}

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/** Headers that proxies and browsers add: the peer may be local, but the client need not be. */
const FORWARDED = /^(?:x-forwarded-.*|x-real-ip|forwarded|via|origin)$/;

/** A page that got here by DNS rebinding sends no Origin to its own server; its Host tells. */
function isLocal({ headers, raw }: FastifyRequest): boolean {
  if (!isForLoopback(headers) || Object.keys(headers).some((name) => FORWARDED.test(name))) return false;
  const { remoteAddress = '' } = raw.socket;
  return LOOPBACK.check(remoteAddress, isIPv6(remoteAddress) ? 'ipv6' : 'ipv4');
}
