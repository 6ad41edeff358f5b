import { randomUUID } from 'node:crypto';
import cors from '@fastify/cors';
import fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyRequest,
  type FastifyServerOptions,
} from 'fastify';
import type { Database } from '../database/database';
import { createApollo } from '../graphql/apollo';
import { GRAPHQL_API, type OperationRequest } from '../graphql/context';
import type { DocumentLimits } from '../graphql/document-limits';
import type { Executor } from '../graphql/executor';
import { IDEMPOTENT_REPLAYED } from '../graphql/idempotency-headers';
import type { KnownDocuments } from '../graphql/known-documents';
import { readPages } from '../pages/pages';
import { pageRoutes } from '../pages/routes';
import { RATE_LIMIT_HEADER_NAMES } from '../rate-limit/headers';
import { restAdapter } from '../rest/adapter';
import { openApiDocument } from '../rest/openapi';
import { OPERATIONS } from '../rest/operations';
import { prepare } from '../rest/prepare';
import { refuseBanned } from './callers/banned-callers';
import { type Recognition, recogniseCallers, refuseWrongKeys } from './callers/recognition';
import { Tarpit } from './callers/tarpit';
import { MAX_URL_LENGTH, reportProblems, routableUrl } from './error-responses';
import type { LiveOperations } from './live/live-operations';
import { streamRoute } from './live/stream-route';
import { Upgrades } from './live/upgrades';
import { WebSockets } from './live/websockets';
import type { Journal } from './observation/access-log';
import { lazyChildren } from './observation/lazy-logger';
import type { Exposition, Metrics } from './observation/metrics';
import { RequestLog } from './observation/request-log';
import { Observation } from './observation/request-observation';
import { GRAPHQL_PATH } from './paths';
import { refuseBrokenHttp } from './protection/broken-http';
import type { Overload } from './protection/overload';
import type { RequestsInProgress } from './protection/requests-in-progress';
import { completeAnswers } from './protection/response-headers';
import { answerWhatNodeWould, NO_SHORT_CUTS } from './protection/short-cuts';
import { graphqlRoute } from './routes/graphql-route';
import { health } from './routes/health';
import { metricsRoute } from './routes/metrics-route';

export interface ServerOptions extends Recognition {
  readonly database: Database;
  readonly executor: Executor;
  readonly documents: KnownDocuments;
  readonly live: LiveOperations;
  readonly requests: RequestsInProgress;
  readonly overload: Overload;
  readonly metrics: Metrics;
  readonly journal: Journal;
  /** What `/metrics` serves on the main port; `undefined` if it has a port of its own. */
  readonly exposition: Exposition | undefined;
  /** The clock for limits, in milliseconds of the Unix epoch. */
  readonly now: () => number;
  readonly logger: FastifyBaseLogger;
  readonly connections: ConnectionLimits;
  readonly documentLimits: DocumentLimits;
  /** Whether callers without a key get no suggestions of schema names. */
  readonly hidesSuggestions: boolean;
  /** Origins that browsers may call from; `undefined` allows any. */
  readonly corsOrigins?: readonly string[];
  /** Proxies whose `X-Forwarded-For` is trusted: addresses and CIDRs, or a number of hops. */
  readonly trustProxy?: string[] | number;
}

/** Limits on connections; durations in milliseconds. */
export interface ConnectionLimits {
  /** Maximum number open at once; any more are closed immediately. */
  readonly most: number;
  /** How long the head of a request may take to arrive. */
  readonly headersMs: number;
  /** How long an idle connection is kept. */
  readonly keepAliveMs: number;
  /** How long a connection without traffic is kept, such as one whose client does not read its response. */
  readonly silenceMs: number;
}

/** How often connections are checked for request heads that are late. */
const CHECK_MS = 1000;
/** Maximum size of a request body in bytes (contract, section 4: 413 over 100 KiB). */
const BODY_LIMIT = 100 * 1024;
const REQUEST_ID = /^[\w.:-]{1,128}$/;

/** Response headers that scripts of other origins may read. */
const EXPOSED_HEADERS = [
  ...RATE_LIMIT_HEADER_NAMES,
  'ETag',
  'Link',
  'Location',
  'X-Request-Id',
  'Deprecation',
  'Sunset',
  'X-Stability',
  'WWW-Authenticate',
  IDEMPOTENT_REPLAYED,
].join(', ');

/** The HTTP server with both interfaces, ready for `listen` or `inject`. */
export async function createServer(options: ServerOptions): Promise<FastifyInstance> {
  const { database, executor, documents, live, requests, overload, metrics, journal, limits, connections } =
    options;
  const childOf = lazyChildren(options.logger);
  const app = fastify({
    loggerInstance: options.logger,
    logController: new RequestLog(journal, metrics),
    childLoggerFactory: (_logger, bindings) => childOf(bindings),
    genReqId: requestId,
    bodyLimit: BODY_LIMIT,
    connectionTimeout: connections.silenceMs,
    keepAliveTimeout: connections.keepAliveMs,
    routerOptions: { maxParamLength: MAX_URL_LENGTH },
    rewriteUrl: routableUrl,
    trustProxy: trusted(options.trustProxy),
    clientErrorHandler: refuseBrokenHttp(limits, options.now),
    ...NO_SHORT_CUTS,
    http: {
      ...NO_SHORT_CUTS.http,
      headersTimeout: connections.headersMs,
      connectionsCheckingInterval: Math.min(connections.headersMs, CHECK_MS),
    },
  });
  app.server.maxConnections = connections.most;
  app.decorateRequest('observation', undefined);
  journal.closeWith(app);
  requests.track(app);
  overload.notice(app);
  recogniseCallers(app, options);
  completeAnswers(app, options.now, options.trustProxy !== undefined);
  reportProblems(app);
  await app.register(cors, {
    origin: options.corsOrigins ? [...options.corsOrigins] : '*',
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    exposedHeaders: EXPOSED_HEADERS,
    maxAge: 600,
    strictPreflight: false,
  });
  answerWhatNodeWould(app);

  overload.shed(app);
  refuseWrongKeys(app);
  const tarpit = new Tarpit();
  refuseBanned(app, limits, tarpit);

  const requestOf = (request: FastifyRequest): OperationRequest => {
    request.observation = new Observation(request.log);
    const hidesSuggestions = options.hidesSuggestions && !request.caller.apiKey;
    const { caller, meter, id: requestId, observation: observer } = request;
    return { session: database, caller, meter, requestId, observer, api: GRAPHQL_API, hidesSuggestions };
  };
  const apollo = await createApollo(executor, documents, options.documentLimits);
  const pages = readPages();
  const upgrades = new Upgrades(app.server, GRAPHQL_PATH);
  const websockets = new WebSockets({
    ...options,
    schema: executor.schema,
    tarpit,
    maxMessage: BODY_LIMIT,
  });
  await app.register(graphqlRoute, {
    apollo,
    executor,
    documents,
    upgrades,
    websockets,
    requestOf,
    sandbox: pages.sandbox,
  });
  await app.register(streamRoute, { live, documents, requests, metrics, requestOf });
  live.watch(app);
  const operations = OPERATIONS.map((operation) => prepare(executor.schema, operation));
  const document = openApiDocument(operations);
  await app.register(restAdapter, { executor, operations, document, requestOf });
  await app.register(pageRoutes, { pages, document });
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
