import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { compile } from '@fastify/proxy-addr';
import fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type onRequestHookHandler,
  type onResponseHookHandler,
  type onSendHookHandler,
} from 'fastify';
import { callAtIterationEnd } from '../database/iteration-end';
import type { Catalogue } from '../errors/codes';
import { createApollo } from '../graphql/apollo';
import type { Documents } from '../graphql/documents';
import type { Executor } from '../graphql/executor';
import { withoutPort } from '../rate-limit/client-address';
import { registerRoutes } from '../rest/adapter';
import type { PreparedRoute } from '../rest/prepared-route';
import type { AccessLog } from './access-log';
import { AllowedMethods, ignoreBodies } from './allowed-methods';
import { chargeRequests } from './charge';
import { addHeaders, setConstantHeaders } from './common-headers';
import { limitConnectionsPerAddress } from './connections-per-address';
import { allowOrigins, corsHeadersFor } from './cors';
import { rejectEarly } from './early-rejection';
import { answerErrors } from './error-handling';
import type { ErrorLog } from './error-log';
import { graphqlRoute } from './graphql-route';
import { health } from './health';
import { type Identification, identifyCallers } from './identification';
import { acceptExactJsonBodies, readNoBodies } from './json-body';
import type { LiveOperations } from './live/live-operations';
import { sseRoute } from './live/sse-route';
import { EventStreams } from './live/sse-streams';
import { UPGRADE_OPTIONS } from './live/upgrades';
import { WebSockets } from './live/websockets';
import type { Exposition } from './metrics';
import { metricsRoute } from './metrics-route';
import {
  graphQLOperationRequestCreator,
  type OperationRequestOptions,
  operationRequestCreator,
} from './operation-request';
import { paceRejections } from './pacing';
import { answerParserErrors, CONNECT } from './parser-errors';
import type { Portal } from './portal';
import { REQUEST_STATE } from './request-state';
import type { RequestsInProgress } from './requests-in-progress';
import { rejectUnsentResponses, sendResponses } from './send-responses';
import { MAX_URL_LENGTH, routableUrl } from './urls';

export interface ServerOptions extends Identification, OperationRequestOptions {
  readonly executor: Executor;
  readonly documents: Documents;
  /** The routes of the REST interface. */
  readonly routes: readonly PreparedRoute[];
  readonly portal: Portal;
  readonly errors: Catalogue;
  readonly live: LiveOperations;
  readonly requests: RequestsInProgress;
  readonly accessLog: AccessLog;
  readonly errorLog: ErrorLog;
  readonly logger: FastifyBaseLogger;
  /** The metrics for `/metrics` on the main port; `undefined` if metrics are served on a separate port. */
  readonly exposition: Exposition | undefined;
  /** The clock for limits, in milliseconds since the Unix epoch. */
  readonly now: () => number;
  readonly connections: ConnectionLimits;
  /** Origins that browsers may call from; `undefined` allows any. */
  readonly corsOrigins?: readonly string[];
  /** Proxies whose `X-Forwarded-For` is trusted: addresses and CIDRs, or a number of hops. */
  readonly trustProxy?: string[] | number;
}

/** Limits on connections, named like the options of Node's HTTP server. Durations are in milliseconds. */
export interface ConnectionLimits {
  readonly maxConnections: number;
  readonly headersTimeout: number;
  readonly keepAliveTimeout: number;
  /** How long a connection without traffic is kept open, for example if the client does not read its response. */
  readonly connectionTimeout: number;
}

/** Maximum interval between Node's checks for connections whose request headers are late, in milliseconds. */
const CHECK_MS = 1000;
const REQUEST_ID = /^[\w.:-]{1,128}$/;

/** Fastify's phases of handling a request, in order. */
export const PHASES = ['onRequest', 'parsing', 'handler', 'error', 'onSend', 'onResponse'] as const;

type Install = (app: FastifyInstance) => void | Promise<void>;

/**
 * A stage of handling a request: its phase, its name (as in docs/architecture.md), and its hook. In Fastify, body parsers,
 * routes and the error handler are not hooks. Stages of these kinds have an `install` function instead of a hook.
 */
type Stage =
  | readonly [phase: 'onRequest', name: string, hook: onRequestHookHandler]
  | readonly [phase: 'parsing' | 'handler' | 'error', name: string, { readonly install: Install }]
  | readonly [phase: 'onSend', name: string, hook: onSendHookHandler<unknown>]
  | readonly [phase: 'onResponse', name: string, hook: onResponseHookHandler];

/** The stages that a request passes, in order. No other file adds request hooks. */
export function pipeline(options: ServerOptions, methods: AllowedMethods, routes: Install): readonly Stage[] {
  const { accessLog, errorLog, requests, limits, portal, corsOrigins } = options;
  return [
    // Sets the headers of all responses and of the route. Takes a slot and starts the deadline. A request over its deadline gets
    // 408 while its body is incomplete, otherwise 503. A connection on which 32 requests arrive together closes after the
    // response to the last of them.
    ['onRequest', 'start', startRequests(requests, methods)],
    // Finds the caller by its key or address. A wrong key is rejected only after `CORS`, so that scripts can read the 401.
    ['onRequest', 'caller', identifyCallers(options)],
    // Sets the CORS headers, so that scripts of other origins can read the response, even a rejection.
    ['onRequest', 'CORS', allowOrigins(corsHeadersFor(corsOrigins))],
    // Counts the request towards the limit of its caller, or rejects it before its body is read: a known ban (429), no `Host` or
    // several (400), overload (503), too many requests of this caller in progress or unread (429), a wrong key (401). Then runs
    // the checks of the route: scope (401, 403), method (405), `Accept` (406).
    ['onRequest', 'early rejection', rejectEarly(requests, limits)],
    // Waits for the other new requests of this iteration of the event loop, so that all of them are handled in one batch.
    ['onRequest', 'batch', inBatches],
    // Reads and parses the body. Rejects a body that is too large (413), has a wrong media type (415), or is not JSON (400), and large bodies of a caller with many requests in
    // progress (429). The
    // GraphQL routes replace these parsers by their own, with the same statuses.
    ['parsing', 'body', { install: (app) => acceptExactJsonBodies(app, requests) }],
    // Runs a GraphQL or REST operation, or sends a page or a health check. An operation charges its caller, and gets 429 if
    // no quota is left.
    ['handler', 'route', { install: routes }],
    // Answers errors of all stages above, and unknown paths (404), in the error format of the called interface.
    ['error', 'error', { install: (app) => answerErrors(app, portal.missing, errorLog) }],
    // Replaces the response of a caller that does not read its responses: by 429, or by 503 if the service is short of memory.
    // Responses of mutations are not replaced.
    ['onSend', 'unsent responses', rejectUnsentResponses(requests)],
    // Charges requests that no operation has charged. A caller with no quota left gets 429 instead of the response.
    ['onSend', 'charge', chargeRequests],
    // Adds the rate-limit headers, `Retry-After`, and a link to the description of the error.
    ['onSend', 'headers', addHeaders(options)],
    // Delays consecutive rejections on a connection, and finally closes the connection.
    ['onSend', 'pacing', paceRejections(requests)],
    // Counts the response as unsent instead of in progress, and sends it in chunks if it is large.
    ['onSend', 'send', sendResponses(requests)],
    // Writes a log line and updates the metrics.
    ['onResponse', 'log', logResponses(accessLog)],
    // Releases the slot. If the client disconnected, or got 503 at the deadline, the slot is released when the handler ends.
    ['onResponse', 'end', endRequests(requests)],
  ];
}

// Exceptions to this pipeline:
// - Requests that Node's HTTP parser rejects (400, 408, 431) never reach these stages. parser-errors.ts answers them.
// - A timer in requests-in-progress.ts answers a request that exceeds its deadline with 408 or 503. The response then passes
//   the stages from `error` on.
// - Upgrades to WebSocket pass the stages up to `route`, which takes over the connection (live/websockets.ts). Requests for
//   an upgrade to another protocol are parsed again as ordinary requests (live/upgrades.ts).
// - An event stream releases its slot when it begins. It reaches `log` and `end` when it ends (live/sse-streams.ts).
// - Operations over WebSocket reach no stage. live/websockets.ts charges, logs and counts them.

/** Creates the HTTP server with the GraphQL and REST interfaces, ready for `listen` or `inject`. */
export async function createServer(options: ServerOptions): Promise<FastifyInstance> {
  const { requests, accessLog, connections } = options;
  const trustProxy = trusted(options.trustProxy);
  const isProxy = (address = '') => trustProxy?.(address, 0) ?? false;
  const answerParserError = answerParserErrors({
    ...options,
    corsHeaders: corsHeadersFor(options.corsOrigins),
    isProxy,
  });
  const app = fastify({
    loggerInstance: options.logger,
    logController: accessLog,
    // Few requests log anything, so creating a child logger for each request would waste CPU time.
    childLoggerFactory: (logger) => logger,
    genReqId: requestId,
    connectionTimeout: connections.connectionTimeout,
    keepAliveTimeout: connections.keepAliveTimeout,
    routerOptions: { maxParamLength: MAX_URL_LENGTH },
    rewriteUrl: routableUrl,
    trustProxy: trustProxy ?? false,
    clientErrorHandler: answerParserError,
    schemaController: { compilersFactory: { buildValidator: rejectSchema, buildSerializer: rejectSchema } },
    // Turns off two built-in responses: Fastify's 503 while closing, and Node's 400 for requests without `Host`
    // (`requireHostHeader`). No hooks run for these responses, so they would lack the headers that every response has.
    return503OnClosing: false,
    http: {
      requireHostHeader: false,
      headersTimeout: connections.headersTimeout,
      connectionsCheckingInterval: Math.min(connections.headersTimeout, CHECK_MS),
      ...UPGRADE_OPTIONS,
    },
  });
  // Ignores an unknown `Expect`, as RFC 9110, section 10.1.1 allows. Node would respond with 417.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  // Without a listener, Node would close the connection of a CONNECT request without a response.
  app.server.on('connect', (_request, socket: Socket) => {
    socket.on('error', () => undefined);
    answerParserError(CONNECT, socket);
  });
  app.server.maxConnections = connections.maxConnections;
  if (options.trustProxy === undefined) limitConnectionsPerAddress(app.server);
  for (const name of REQUEST_STATE) app.decorateRequest(name);
  readNoBodies(app);
  accessLog.closeWith(app);
  requests.watch(app);
  options.live.watch(app);
  const inRoutes: Install[] = [];
  const methods = new AllowedMethods();
  for (const [phase, , stage] of pipeline(options, methods, await routesOf(app, methods, options))) {
    if (typeof stage === 'function') app.addHook(phase as 'onRequest', stage as onRequestHookHandler);
    else if (phase === 'error') await stage.install(app);
    else inRoutes.push(stage.install);
  }
  methods.watch(app);
  await app.register(async (routes) => {
    for (const install of inRoutes) await install(routes);
  });
  return app;
}

/**
 * Fastify calls this if a route has a schema. No route has one, since the executor and the REST adapter check input. Without
 * this function, Fastify would load its schema compilers, which takes 5 to 7 % of the start.
 */
function rejectSchema(): never {
  throw new Error('A route must not have a Fastify schema.');
}

function startRequests(requests: RequestsInProgress, methods: AllowedMethods): onRequestHookHandler {
  return (request, reply, done) => {
    request.route = (request.is404 && methods.configFor(request)) || request.routeOptions.config;
    setConstantHeaders(request, reply);
    request.route.annotate?.(request, reply);
    if (requests.start(request, reply)) done();
  };
}

const inBatches = () => new Promise<void>((resolve) => callAtIterationEnd(resolve));

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

/** Makes the function that registers all routes. */
async function routesOf(
  { server }: FastifyInstance,
  methods: AllowedMethods,
  options: ServerOptions,
): Promise<Install> {
  const { executor, documents, live, requests, accessLog, routes, portal, exposition } = options;
  const createOperationRequest = operationRequestCreator(options);
  const createGraphQLOperationRequest = graphQLOperationRequestCreator(createOperationRequest);
  const apollo = await createApollo(executor, documents);
  const streams = new EventStreams({ live, requests, accessLog, createOperationRequest });
  const websockets = new WebSockets(server, { ...options, createGraphQLOperationRequest });
  return async (app) => {
    await app.register(graphqlRoute, {
      apollo,
      documents,
      websockets,
      requests,
      createGraphQLOperationRequest,
      sandbox: portal.sandbox,
    });
    await app.register(sseRoute, { live, streams, requests, createGraphQLOperationRequest });
    ignoreBodies(app);
    registerRoutes(app, { executor, routes, createOperationRequest, streams });
    methods.answerOptions(app);
    await app.register(portal.routes);
    await app.register(health, options);
    if (exposition) await app.register(metricsRoute, { metrics: exposition });
  };
}

/** Whether an address is a trusted proxy. @param hop the number of proxies between this address and the gateway. */
type IsTrusted = (address: string, hop: number) => boolean;

function trusted(proxies: string[] | number | undefined): IsTrusted | undefined {
  if (proxies === undefined) return undefined;
  if (typeof proxies === 'number') return (_address, hop) => hop < proxies;
  const isTrusted = compile(proxies);
  return (address, hop) => isTrusted(withoutPort(address), hop);
}

/**
 * The request id. A valid id from the client is used, so that the logs of both sides can be correlated. Otherwise a new id
 * is generated.
 */
function requestId(request: { headers: Record<string, unknown> }): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
}
