import { createServer, type Server } from 'node:http';
import { BlockList, isIPv6 } from 'node:net';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ProblemError } from '../graphql/errors';
import { answerOtherMethods } from '../rest/methods';
import type { Metrics } from './metrics';

const METRICS_PATH = '/metrics';

/** `/metrics` beside everything else: for this machine, and for admin keys. */
export async function metricsRoute(app: FastifyInstance, { metrics }: { metrics: Metrics }): Promise<void> {
  app.route({
    method: ['GET', 'HEAD'],
    url: METRICS_PATH,
    config: { metering: 'unmetered', operation: 'metrics' },
    onRequest: (request, _reply, done) => done(refusalOf(request)),
    handler: async (_request, reply) =>
      reply
        .header('content-type', metrics.contentType)
        .header('cache-control', 'no-store')
        .send(await metrics.text()),
  });
  answerOtherMethods(app, METRICS_PATH, ['GET', 'HEAD']);
}

/** `/metrics` on a server of its own, for a port that only the monitoring reaches. */
export function metricsServer(metrics: Metrics): Server {
  return createServer((request, response) => {
    const isRight =
      request.url?.split('?', 1)[0] === METRICS_PATH && /^(GET|HEAD)$/.test(request.method ?? '');
    if (!isRight) return response.writeHead(404).end();
    metrics.text().then(
      (text) => response.writeHead(200, { 'content-type': metrics.contentType }).end(text),
      () => response.writeHead(500).end(),
    );
  });
}

function refusalOf(request: FastifyRequest): ProblemError | undefined {
  const { scopes, apiKey } = request.caller;
  if (scopes.has('ADMIN') || isLocal(request)) return undefined;
  return apiKey
    ? new ProblemError(
        'FORBIDDEN',
        'Metrics need an API key with the scope ADMIN; this key does not have it.',
      )
    : new ProblemError('UNAUTHENTICATED', 'Metrics need an API key with the scope ADMIN.');
}

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/** What proxies and browsers add: the peer is local then, but who asks may not be. */
const FORWARDED = ['x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'forwarded', 'via', 'origin'];

function isLocal({ headers, raw }: FastifyRequest): boolean {
  if (FORWARDED.some((name) => headers[name] !== undefined)) return false;
  const { remoteAddress = '' } = raw.socket;
  return LOOPBACK.check(remoteAddress, isIPv6(remoteAddress) ? 'ipv6' : 'ipv4');
}
