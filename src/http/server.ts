import { randomUUID } from 'node:crypto';
import cors from '@fastify/cors';
import fastify, { type FastifyInstance, type FastifyRequest, type FastifyServerOptions } from 'fastify';
import type { Database } from '../database/database';
import { createApollo } from '../graphql/apollo';
import { Context } from '../graphql/context';
import type { Executor } from '../graphql/executor';
import { restAdapter } from '../rest/adapter';
import { refuseBrokenHttp } from './broken-http';
import { graphqlRoute } from './graphql-route';
import { reportProblems, routableUrl } from './problems';
import { RequestLog } from './request-log';

export interface ServerOptions {
  readonly database: Database;
  readonly executor: Executor;
  readonly logLevel: string;
  /** Origins that browsers may call from; `undefined` is any. */
  readonly corsOrigins?: readonly string[];
}

/** Bytes of a request body (contract, section 4: 413 over 100 KiB). */
const BODY_LIMIT = 100 * 1024;
/** Node's limit on a request's head bounds URLs; no parameter is refused before that. */
const URL_LIMIT = 16 * 1024;
const REQUEST_ID = /^[\w.:-]{1,128}$/;

/** The HTTP server with both doors, ready to listen or to be injected into. */
export async function createServer(options: ServerOptions): Promise<FastifyInstance> {
  const { database, executor } = options;
  const app = fastify({
    logger: loggerOptions(options.logLevel),
    logController: new RequestLog(),
    genReqId: requestId,
    bodyLimit: BODY_LIMIT,
    routerOptions: { maxParamLength: URL_LIMIT },
    rewriteUrl: routableUrl,
    clientErrorHandler: refuseBrokenHttp,
  });
  app.addHook('onSend', async (request, reply) => {
    reply.header('x-request-id', request.id);
  });
  reportProblems(app);
  await app.register(cors, {
    origin: options.corsOrigins ? [...options.corsOrigins] : '*',
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    exposedHeaders: [
      'ETag',
      'Link',
      'Location',
      'X-Request-Id',
      'Deprecation',
      'Sunset',
      'X-Stability',
      'Retry-After',
    ],
    maxAge: 600,
  });

  const contextOf = (request: FastifyRequest): Context =>
    new Context(database, request.id, (error) => request.log.error(error));
  await app.register(graphqlRoute, { apollo: await createApollo(executor), contextOf });
  await app.register(restAdapter, { executor, contextOf });
  return app;
}

/** The caller's own id for the request, so that both sides' logs can be joined, or a new one. */
function requestId(request: { headers: Record<string, unknown> }): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
}

function loggerOptions(level: string): FastifyServerOptions['logger'] {
  return {
    level,
    formatters: { level: (label) => ({ level: label }) },
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
  };
}
