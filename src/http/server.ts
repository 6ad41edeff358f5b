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
import { type Identification, identifyCallers } from './caller';
import { addHeaders, chargeRequests, setConstantHeaders } from './common-headers';
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
import { answerParserErrors } from './parser-errors';
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
  /** The metrics that `/metrics` serves on the main port; `undefined` if they have a separate port. */
  readonly exposition: Exposition | undefined;
  /** The clock for limits, in milliseconds of the Unix epoch. */
  readonly now: () => number;
  readonly logger: FastifyBaseLogger;
  readonly connections: ConnectionLimits;
  /** Maximum size of the rows that a statement returns for a caller, in bytes. */
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

/** How often connections are checked for request headers that are late. */
const CHECK_MS = 1000;
const REQUEST_ID = /^[\w.:-]{1,128}$/;

/** The phases in which Fastify handles a request, in its order. */
export const PHASES = ['onRequest', 'parsing', 'handler', 'error', 'onSend', 'onResponse'] as const;

type Install = (app: FastifyInstance) => void | Promise<void>;

/**
 * A stage in handling a request: its phase, its name (as in docs/architecture.md), and the hook that runs for each request.
 * Fastify has no hooks for body parsers, routes and the error handler: these stages have a function that installs them.
 */
export type Stage =
  | readonly [phase: 'onRequest', name: string, hook: onRequestHookHandler]
  | readonly [phase: 'parsing' | 'handler' | 'error', name: string, { readonly install: Install }]
  | readonly [phase: 'onSend', name: string, hook: onSendHookHandler<unknown>]
  | readonly [phase: 'onResponse', name: string, hook: onResponseHookHandler];

/** The stages of a request, in order. No other file installs a hook on requests. */
export function pipeline(options: ServerOptions, routes: Install): readonly Stage[] {
  const { accessLog, requests, portal, corsOrigins } = options;
  return [
    // Takes a slot and starts the deadline, which ends the request in any later stage: 408 while its body is incomplete,
    // else 503. Closes a connection with more than 32 unanswered requests.
    ['onRequest', 'start', startRequests(requests)],
    // Finds the caller by its key or its address. A wrong key is rejected two stages later, so that scripts can read the 401.
    ['onRequest', 'caller', identifyCallers(options)],
    // Lets scripts of other origins read the response, rejections included.
    ['onRequest', 'CORS', allowOrigins(corsOrigins)],
    // Rejects before the body is read: no Host or several (400), overload (503), too many requests of this caller in
    // progress (429), a wrong key (401). Then the checks of the route: scope (401, 403), method (405), Accept (406).
    ['onRequest', 'early rejection', rejectEarly(requests)],
    // Reads the body: too large (413), of another type (415), not JSON (400).
    ['parsing', 'body', { install: acceptExactJsonBodies }],
    // Runs a GraphQL or REST operation, or sends a page or a health check. Operations charge the caller (429).
    ['handler', 'route', { install: routes }],
    // Turns errors of all stages above, and unknown paths (404), into the error format of the interface that was called.
    ['error', 'error', { install: (app) => answerErrors(app, portal.missing) }],
    // Charges requests that no operation has charged. A caller with no quota left gets 429 in place of the response.
    ['onSend', 'charge', chargeRequests],
    // Adds the limit headers, `Retry-After`, and a link to the description of an error.
    ['onSend', 'headers', addHeaders(options)],
    // Writes a line of log and updates the metrics.
    ['onResponse', 'log', logResponses(accessLog)],
    // Releases the slot. If the client disconnected, or got 503 at the deadline, the slot is kept until the handler has ended.
    ['onResponse', 'end', endRequests(requests)],
  ];
}

// Not in the list:
// - requests that Node's parser rejects (400, 408, 431) reach no stage: parser-errors.ts answers them, with the same headers;
// - a request that is over its deadline gets its 408 or 503 from a timer (requests-in-progress.ts), and passes the stages from
//   `charge` on;
// - upgrades to WebSocket pass the stages up to the route, which takes over the connection (live/websockets.ts). Requests for
//   other protocols are parsed again as ordinary requests (live/upgrades.ts);
// - an event stream releases its slot when it begins, and reaches `log` and `end` when it ends (live/stream-route.ts);
// - operations over WebSocket are charged, logged and counted by live/websockets.ts.

/** The HTTP server with both interfaces, ready for `listen` or `inject`. */
export async function createServer(options: ServerOptions): Promise<FastifyInstance> {
  const { requests, accessLog, limits, connections } = options;
  const app = fastify({
    loggerInstance: options.logger,
    logController: accessLog,
    // A child logger for each request would cost more than it is used.
    childLoggerFactory: (logger) => logger,
    genReqId: requestId,
    bodyLimit: BODY_LIMIT,
    connectionTimeout: connections.connectionTimeout,
    keepAliveTimeout: connections.keepAliveTimeout,
    routerOptions: { maxParamLength: MAX_URL_LENGTH },
    rewriteUrl: routableUrl,
    trustProxy: trusted(options.trustProxy),
    clientErrorHandler: answerParserErrors(limits, requests, options.now),
    // Fastify while closing, and Node for requests without `Host`, would respond bypassing all hooks, without the headers of
    // every response.
    return503OnClosing: false,
    http: {
      requireHostHeader: false,
      headersTimeout: connections.headersTimeout,
      connectionsCheckingInterval: Math.min(connections.headersTimeout, CHECK_MS),
      ...UPGRADE_OPTIONS,
    },
  });
  // Node would respond with 417 to an unknown `Expect`, which a server may ignore (RFC 9110, section 10.1.1).
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  app.server.maxConnections = connections.maxConnections;
  if (options.trustProxy === undefined) limitConnectionsPerAddress(app.server);
  for (const name of ['route', 'caller', 'meter', 'keyProblem', 'observation', 'rejection']) app.decorateRequest(name);
  accessLog.closeWith(app);
  requests.watch(app);
  options.live.watch(app);
  const inRoutes: Install[] = [];
  for (const [phase, , stage] of pipeline(options, await routesOf(app, options))) {
    if (typeof stage === 'function') app.addHook(phase as 'onRequest', stage as onRequestHookHandler);
    else if (phase === 'error') await stage.install(app);
    else inRoutes.push(stage.install);
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

/** All routes. The routes of GraphQL install other body parsers. */
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

/** Makes the executor's view of a request, or of an operation over WebSocket. */
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

/** The request id that the client sent, so that the logs of both sides can be correlated, or a new one. */
function requestId(request: { headers: Record<string, unknown> }): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
}
