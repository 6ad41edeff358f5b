import { randomUUID } from 'node:crypto';
import cors from '@fastify/cors';
import fastify, { type FastifyBaseLogger, type FastifyInstance, type FastifyServerOptions } from 'fastify';
import type { Database } from '../database/database';
import type { Catalogue } from '../errors/codes';
import { createApollo } from '../graphql/apollo';
import { GRAPHQL_API, type OperationRequest } from '../graphql/context';
import type { Documents } from '../graphql/documents';
import type { Executor } from '../graphql/executor';
import { IDEMPOTENCY_KEY, IDEMPOTENT_REPLAYED } from '../graphql/idempotency';
import { RATE_LIMIT_HEADER_NAMES } from '../rate-limit/rate-limit-headers';
import { methodsByPath, registerOperations } from '../rest/adapter';
import type { PreparedOperation } from '../rest/prepared-operation';
import type { AccessLog } from './access-log';
import { refuseBrokenHttp } from './broken-http';
import { type Recognition, recogniseCallers } from './caller';
import { completeResponses } from './common-headers';
import { shareConnections } from './connection-shares';
import { refuseEarly } from './early-refusals';
import { BODY_LIMIT, MAX_URL_LENGTH, reportProblems, routableUrl } from './error-handling';
import { graphqlRoute } from './graphql-route';
import { health } from './health';
import { acceptExactJsonBodies } from './json-body';
import type { LiveOperations } from './live/live-operations';
import { streamRoute } from './live/stream-route';
import { UPGRADE_OPTIONS } from './live/upgrades';
import { WebSockets } from './live/websockets';
import type { Exposition } from './metrics';
import { metricsRoute } from './metrics-route';
import { answerOtherMethods, routeEveryMethod } from './other-methods';
import type { Portal } from './portal';
import { type Incoming, Observation } from './request-observation';
import type { RequestsInProgress } from './requests-in-progress';

export interface ServerOptions extends Recognition {
  readonly database: Database;
  readonly executor: Executor;
  readonly documents: Documents;
  /** The REST interface. */
  readonly operations: readonly PreparedOperation[];
  readonly portal: Portal;
  readonly errors: Catalogue;
  readonly live: LiveOperations;
  readonly requests: RequestsInProgress;
  readonly accessLog: AccessLog;
  /** What `/metrics` serves on the main port; `undefined` if it has a port of its own. */
  readonly exposition: Exposition | undefined;
  /** The clock for limits, in milliseconds of the Unix epoch. */
  readonly now: () => number;
  readonly logger: FastifyBaseLogger;
  readonly connections: ConnectionLimits;
  /** Maximum size of what a statement returns for a caller. */
  readonly maxStatementBytes: number;
  /** Origins that browsers may call from; `undefined` allows any. */
  readonly corsOrigins?: readonly string[];
  /** Proxies whose `X-Forwarded-For` is trusted: addresses and CIDRs, or a number of hops. */
  readonly trustProxy?: string[] | number;
}

/** Limits on connections, by Node's names for them; durations in milliseconds. */
export interface ConnectionLimits {
  readonly maxConnections: number;
  readonly headersTimeout: number;
  readonly keepAliveTimeout: number;
  /** How long a connection without traffic is kept, such as one whose client does not read its response. */
  readonly connectionTimeout: number;
}

/** How often connections are checked for request heads that are late. */
const CHECK_MS = 1000;
const REQUEST_ID = /^[\w.:-]{1,128}$/;

/** Response headers that scripts of other origins may read. */
const EXPOSED_HEADERS = [
  ...RATE_LIMIT_HEADER_NAMES,
  'ETag, Link, Location, X-Request-Id, Deprecation, Sunset, X-Stability, WWW-Authenticate, Accept-Patch',
  IDEMPOTENT_REPLAYED,
].join(', ');

/** The HTTP server with both interfaces, ready for `listen` or `inject`. */
export async function createServer(options: ServerOptions): Promise<FastifyInstance> {
  const { database, executor, documents, live, requests, overload, accessLog, limits, connections } = options;
  const { operations, portal, errors } = options;
  const app = fastify({
    loggerInstance: options.logger,
    logController: accessLog,
    genReqId: requestId,
    bodyLimit: BODY_LIMIT,
    connectionTimeout: connections.connectionTimeout,
    keepAliveTimeout: connections.keepAliveTimeout,
    routerOptions: { maxParamLength: MAX_URL_LENGTH },
    rewriteUrl: routableUrl,
    trustProxy: trusted(options.trustProxy),
    clientErrorHandler: refuseBrokenHttp(limits, requests, options.now),
    // Otherwise Node and Fastify would answer requests without `Host`, and any while closing, past all hooks, without the headers
    // that every response carries.
    return503OnClosing: false,
    http: {
      requireHostHeader: false,
      headersTimeout: connections.headersTimeout,
      connectionsCheckingInterval: Math.min(connections.headersTimeout, CHECK_MS),
      ...UPGRADE_OPTIONS,
    },
  });
  // As would Node a request with an unknown `Expect`, which a server may ignore (RFC 9110, section 10.1.1).
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  app.server.maxConnections = connections.maxConnections;
  if (options.trustProxy === undefined) shareConnections(app.server);
  for (const name of ['observation', 'refusal']) app.decorateRequest(name, undefined);
  accessLog.closeWith(app);
  requests.track(app);
  overload.lag.watch(app);
  recogniseCallers(app, options);
  completeResponses(app, { now: options.now, requests, errors });
  reportProblems(app, portal.missing);
  await app.register(cors, {
    origin: options.corsOrigins ? [...options.corsOrigins] : '*',
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    exposedHeaders: EXPOSED_HEADERS,
    maxAge: 600,
    strictPreflight: false,
  });
  refuseEarly(app, { overload, requests });

  const requestOf = (incoming: Incoming): OperationRequest => {
    const { id: requestId, caller, meter, deadline, headers } = incoming;
    const observer = new Observation(options.logger, requestId);
    incoming.observation = observer;
    const key = headers?.[IDEMPOTENCY_KEY];
    const idempotency = key === undefined ? undefined : { header: String(key) };
    const api = GRAPHQL_API;
    const session = database.sessionFor({ caller: caller.id, deadline, mostBytes: options.maxStatementBytes });
    return { session, caller, meter, requestId, observer, api, idempotency };
  };
  const apollo = await createApollo(executor, documents);
  const { schema } = executor;
  const websockets = new WebSockets(app.server, { ...options, schema, requestOf });
  await app.register(graphqlRoute, { apollo, documents, websockets, requestOf, sandbox: portal.sandbox });
  await app.register(streamRoute, { live, requests, accessLog, requestOf });
  live.watch(app);
  await app.register(async (rest) => {
    acceptExactJsonBodies(rest);
    routeEveryMethod(rest);
    registerOperations(rest, { executor, operations, requestOf });
    for (const [path, methods] of methodsByPath(operations)) answerOtherMethods(rest, path, methods);
  });
  await app.register(portal.routes);
  await app.register(health, { database, limits, requests });
  if (options.exposition) await app.register(metricsRoute, { metrics: options.exposition });
  return app;
}

function trusted(proxies: string[] | number | undefined): FastifyServerOptions['trustProxy'] {
  return typeof proxies === 'number' ? (_address, hop) => hop < proxies : (proxies ?? false);
}

/** The client's own id for the request, so that the logs of both sides can be correlated, or a new one. */
function requestId(request: { headers: Record<string, unknown> }): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
}
