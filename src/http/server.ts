import { randomUUID } from 'node:crypto';
import fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyServerOptions,
  type onRequestHookHandler,
  type onResponseHookHandler,
  type onSendHookHandler,
} from 'fastify';
import type { Database } from '../database/database';
import type { Catalogue } from '../errors/codes';
import { createApollo } from '../graphql/apollo';
import { GRAPHQL_API, type OperationRequest } from '../graphql/context';
import type { Documents } from '../graphql/documents';
import type { Executor } from '../graphql/executor';
import { IDEMPOTENCY_KEY } from '../graphql/idempotency';
import { methodsByPath, registerOperations } from '../rest/adapter';
import type { PreparedOperation } from '../rest/prepared-operation';
import { type AccessLog, type Incoming, Observation } from './access-log';
import { refuseBrokenHttp } from './broken-http';
import { type Identification, identifyCallers } from './caller';
import { completeResponses, setConstantHeaders } from './common-headers';
import { limitConnectionsPerAddress } from './connections-per-address';
import { allowOrigins } from './cors';
import { rejectEarly } from './early-rejection';
import { answerErrors, BODY_LIMIT, MAX_URL_LENGTH, routableUrl } from './error-handling';
import { graphqlRoute } from './graphql-route';
import { health } from './health';
import { acceptExactJsonBodies } from './json-body';
import type { LiveOperations } from './live/live-operations';
import { streamRoute } from './live/stream-route';
import { UPGRADE_OPTIONS } from './live/upgrades';
import { WebSockets } from './live/websockets';
import type { Exposition } from './metrics';
import { metricsRoute } from './metrics-route';
import { answerOtherMethods, answerPreflights, routeEveryMethod } from './other-methods';
import type { Portal } from './portal';
import type { RequestsInProgress } from './requests-in-progress';

export interface ServerOptions extends Identification {
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

/** The phases in which Fastify handles a request, in its order. */
export const PHASES = ['onRequest', 'parsing', 'handler', 'error', 'onSend', 'onResponse'] as const;

type Install = (app: FastifyInstance) => void | Promise<void>;

/** A step in handling a request: when Fastify runs it, its name (docs/architecture.md has the same), and what it does. */
export type Stage =
  | readonly [phase: 'onRequest', name: string, run: onRequestHookHandler]
  | readonly [
      phase: 'parsing' | 'handler' | 'error',
      name: string,
      install: (app: FastifyInstance) => void | Promise<void>,
    ]
  | readonly [phase: 'onSend', name: string, run: onSendHookHandler<unknown>]
  | readonly [phase: 'onResponse', name: string, run: onResponseHookHandler];

/** Everything that happens to a request, in this order. No other file installs a hook on requests. */
export function pipeline(options: ServerOptions, routes: Install): readonly Stage[] {
  const { accessLog, requests, portal, corsOrigins } = options;
  return [
    // Takes a slot and starts the deadline. Closes a connection with more than 32 unanswered requests.
    ['onRequest', 'start', startRequests(requests)],
    // Finds the caller by its key or its address. A wrong key is only noted here.
    ['onRequest', 'caller', identifyCallers(options)],
    // Lets scripts of other origins read the response, rejections included.
    ['onRequest', 'CORS', allowOrigins(corsOrigins)],
    // Rejects before the body is read: no Host or several (400), overload (503), too many requests of this caller in
    // progress (429), a wrong key (401), and what the route rejects by the head alone: scope (403), method (405), Accept (406).
    ['onRequest', 'early rejection', rejectEarly(requests)],
    // Reads the body: too large (413), of another type (415), not JSON (400). If it does not arrive in time: 408.
    ['parsing', 'body', acceptExactJsonBodies],
    // Runs a GraphQL or REST operation, or sends a page or a probe's result. Operations charge the caller (429).
    ['handler', 'route', routes],
    // Turns everything thrown so far, and unknown paths (404), into the error format of the interface that was called.
    ['error', 'error', (app: FastifyInstance) => answerErrors(app, portal.missing)],
    // Charges requests that no operation has charged, which may still turn a response into a 429. Adds the limit headers.
    ['onSend', 'headers', completeResponses(options)],
    // Writes a line of log and updates the metrics.
    ['onResponse', 'log', logResponses(accessLog)],
    // Releases the slot. Work whose client has left, or was told 503 after the deadline, keeps it until it has ended.
    ['onResponse', 'end', endRequests(requests)],
  ];
}

// No hook sees these, or not all of their life:
// - what Node's parser rejects (400, 408, 431): answered by broken-http.ts, with the same headers;
// - upgrades: those to WebSocket pass the stages up to the route, which takes over the connection (live/websockets.ts);
//   those to other protocols are parsed again as ordinary requests (live/upgrades.ts);
// - responses that continue while the client listens: an event stream has passed the stages when it begins, and gives up its
//   slot then (live/stream-route.ts). Operations over WebSocket call the same functions themselves (live/websockets.ts).

/** The HTTP server with both interfaces, ready for `listen` or `inject`. */
export async function createServer(options: ServerOptions): Promise<FastifyInstance> {
  const { requests, accessLog, limits, connections } = options;
  const app = fastify({
    loggerInstance: options.logger,
    logController: accessLog,
    // A child of the logger costs each request more than what it is rarely used for.
    childLoggerFactory: (logger) => logger,
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
  if (options.trustProxy === undefined) limitConnectionsPerAddress(app.server);
  for (const name of ['route', 'caller', 'meter', 'keyProblem', 'observation', 'rejection']) app.decorateRequest(name);
  accessLog.closeWith(app);
  requests.watch(app);
  options.live.watch(app);
  const inRoutes: Install[] = [];
  for (const [phase, , run] of pipeline(options, await routesOf(app, options))) {
    if (phase === 'parsing' || phase === 'handler') inRoutes.push(run);
    else if (phase === 'error') await run(app);
    else app.addHook(phase as 'onRequest', run as onRequestHookHandler);
  }
  await app.register(async (routes) => {
    for (const install of inRoutes) await install(routes);
  });
  return app;
}

function startRequests(requests: RequestsInProgress): onRequestHookHandler {
  return (request, reply, done) => {
    request.route = request.routeOptions.config;
    setConstantHeaders(request, reply);
    if (requests.start(request, reply)) done();
  };
}

function logResponses(accessLog: AccessLog): onResponseHookHandler {
  return (request, reply, done) => {
    accessLog.logResponse(request, reply);
    done();
  };
}

function endRequests(requests: RequestsInProgress): onResponseHookHandler {
  return (request, _reply, done) => {
    requests.end(request);
    done();
  };
}

/** All routes. Those of GraphQL have parsers of their own. */
async function routesOf({ server }: FastifyInstance, options: ServerOptions): Promise<Install> {
  const { executor, documents, live, requests, accessLog, operations, portal, exposition } = options;
  const requestOf = operationRequests(options);
  const apollo = await createApollo(executor, documents);
  const websockets = new WebSockets(server, { ...options, schema: executor.schema, requestOf });
  return async (app) => {
    await app.register(graphqlRoute, { apollo, documents, websockets, requestOf, sandbox: portal.sandbox });
    await app.register(streamRoute, { live, requests, accessLog, requestOf });
    routeEveryMethod(app);
    registerOperations(app, { executor, operations, requestOf });
    for (const [path, methods] of methodsByPath(operations)) answerOtherMethods(app, path, methods);
    answerPreflights(app);
    await app.register(portal.routes);
    await app.register(health, options);
    if (exposition) await app.register(metricsRoute, { metrics: exposition });
  };
}

/** What the executor is told of a request, and of an operation over WebSocket. */
function operationRequests({ database, logger, maxStatementBytes: mostBytes }: ServerOptions) {
  return (incoming: Incoming): OperationRequest => {
    const { id: requestId, caller, meter, deadline, headers } = incoming;
    const observer = new Observation(logger, requestId);
    incoming.observation = observer;
    const key = headers?.[IDEMPOTENCY_KEY];
    const idempotency = key === undefined ? undefined : { header: String(key) };
    const session = database.sessionFor({ caller: caller.id, deadline, mostBytes });
    return { session, caller, meter, requestId, observer, api: GRAPHQL_API, idempotency };
  };
}

function trusted(proxies: string[] | number | undefined): FastifyServerOptions['trustProxy'] {
  return typeof proxies === 'number' ? (_address, hop) => hop < proxies : (proxies ?? false);
}

/** The client's own id for the request, so that the logs of both sides can be correlated, or a new one. */
function requestId(request: { headers: Record<string, unknown> }): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
}
