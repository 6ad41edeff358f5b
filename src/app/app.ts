import 'reflect-metadata';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import type { GraphQLSchema } from 'graphql';
import { anonymousCaller } from '../access/account';
import { ApiKeyService, ensureAdminKey } from '../access/api-key-service';
import { KeyAuthenticator } from '../access/key-authenticator';
import { TokenAuthenticator } from '../access/token-authenticator';
import { Tokens } from '../access/tokens';
import { UsageRecorder } from '../access/usage';
import { UsageService } from '../access/usage-service';
import { cleanPeriodically } from '../database/cleaning';
import type { Change, Database } from '../database/database';
import { Deadline } from '../database/deadline';
import { reasonOf } from '../database/failures';
import type { Domains, ExampleWrite } from '../domain/domain';
import { Hub } from '../events/hub';
import { RedisRelay } from '../events/redis-relay';
import { changeCheck, tablesOf } from '../events/topics';
import { EventNumbering } from '../feed/event-numbering';
import { FeedNotifier } from '../feed/feed-notifier';
import { deleteOldEvents } from '../feed/retention';
import { costLimits } from '../graphql/cost';
import { type DocumentLimits, Documents } from '../graphql/documents';
import { Executor } from '../graphql/executor';
import { deleteExpiredResponses } from '../graphql/idempotency';
import { OperationQueue } from '../graphql/operation-queue';
import { buildSchema, type SchemaParts } from '../graphql/schema';
import { TrustedDocuments } from '../graphql/trusted-documents';
import { AccessLog } from '../http/access-log';
import { Drain } from '../http/drain';
import { ErrorLog } from '../http/error-log';
import { FailureLog } from '../http/failure-log';
import type { Authenticator } from '../http/identification';
import { LiveOperations } from '../http/live/live-operations';
import { createLogger } from '../http/logger';
import { type Exposition, Metrics } from '../http/metrics';
import { OF_WORKERS } from '../http/metrics-route';
import { RequestsInProgress } from '../http/requests-in-progress';
import { type ConnectionLimits, createServer } from '../http/server';
import { createPortal } from '../portal/routes';
import { Limiter, type OnUsage } from '../rate-limit/limiter';
import { LookUps } from '../rate-limit/look-ups';
import { RedisStore } from '../rate-limit/redis-store';
import { parseRedisAddress, placeOfRedis } from '../redis/redis-address';
import { connectForEvents, connectRedis, faultOf } from '../redis/redis-client';
import { explanationOf } from '../redis/rejections';
import { openApiDocument } from '../rest/openapi/openapi-document';
import { prepareRoutes } from '../rest/prepared-route';
import { methodAndPath } from '../rest/rest-route';
import type { Config } from './config';
import { gatewayDomains } from './domains';
import { metricsOf } from './metric-table';

/** The application before its server listens. Closing the server closes everything except the database. */
export interface App {
  readonly server: FastifyInstance;
  readonly limits: Limiter;
  /**
   * Creates an admin key if the database has no key. Must be the last step of the start, since the key would not be shown
   * if a later step failed.
   * @returns the admin key, if this start created it as the first key of the database.
   */
  readonly firstAdminKey: () => Promise<FirstAdminKey | undefined>;
  readonly metrics: Metrics;
  readonly drain: Drain;
  /** The name and version of the service, such as `Petstore Gateway 1.0.0`. */
  readonly product: string;
  /** The path of the first GET operation without path parameters, such as `/pets`. The banner shows it as an example. */
  readonly firstList: string | undefined;
  /** A write that succeeds on an empty database. The first start shows it as an example. */
  readonly firstWrite: ExampleWrite | undefined;
}

/** The admin key that a start created on an empty database. */
export interface FirstAdminKey {
  /** The full text of a generated key, to be shown once. `undefined` for the key in `ADMIN_API_KEY`, which is never shown. */
  readonly generated?: string;
}

/** Functions that close everything that has been opened so far. */
type Opened = (() => void | Promise<void>)[];

/**
 * Creates the application on an open database: keys and limits, services, schema and server. If a step fails, it closes
 * everything except the database.
 */
export async function createApp(
  config: Config,
  database: Database,
  now: () => number = Date.now,
  domainsOf = gatewayDomains,
): Promise<App> {
  const opened: Opened = [];
  try {
    return await compose(config, database, now, domainsOf, opened);
  } catch (error) {
    await Promise.allSettled(opened.map(async (close) => close()));
    throw error;
  }
}

/** The parts of the application, in the order in which they need each other. */
async function compose(
  config: Config,
  database: Database,
  now: () => number,
  domainsOf: typeof gatewayDomains,
  opened: Opened,
): Promise<App> {
  const logger = createLogger(config.LOG_LEVEL, config.WEB_CONCURRENCY);
  const usage = openUsage(database, logger, now, opened);
  const limits = await openLimiter(config, logger, now, usage.recorder.count, opened);
  const lookUps = new LookUps(limits);
  const keyAuthenticator = openKeys(config, database, lookUps, logger, now, opened);
  const authenticator = await withTokens(config, keyAuthenticator, lookUps, limits, logger, now, opened);
  const apiKeys = new ApiKeyService(keyAuthenticator, now);
  const numbering = new EventNumbering(database);
  numbering.start();
  const notifier = new FeedNotifier(numbering);
  opened.push(() => {
    notifier.stop();
    return numbering.stop();
  });
  const domains = domainsOf({ apiKeys, limits, usage: usage.service, numbering, notifier });
  const { tables, errors, rest } = domains;
  const events = await openEvents(config, database, domains, notifier, logger, opened);
  const schema = await createSchema(config, domains, events.hub);
  const routes = prepareRoutes(schema, rest);
  const document = openApiDocument(routes, rest, errors);
  const requests = new RequestsInProgress(config.REQUEST_TIMEOUT_MS, config.MAX_REQUESTS_IN_PROGRESS);
  const queue = new OperationQueue({
    rejectionOf: ({ callerId: id, address }) => requests.unsent.rejectionOf({ id, address }),
    mostWaiting: config.MAX_REQUESTS_IN_PROGRESS / 2,
  });
  const documents = createDocuments(config, schema, queue);
  const executor = createExecutor(config, database, schema, tables, queue, now);
  const { ADMIN_API_KEY: given } = config;
  const isGivenFirst = given !== undefined && (await ensureAdminKey(database, given, now())) !== undefined;
  const live = new LiveOperations({
    executor,
    documents,
    authenticator,
    lookUpMs: config.REQUEST_TIMEOUT_MS,
    maxPerCaller: config.MAX_SUBSCRIPTIONS_PER_CALLER,
  });
  const { uses } = executor;
  const metrics = new Metrics(metricsOf({ database, limits, requests, uses, live, usage: usage.recorder, ...events }));
  const errorLog = new ErrorLog(logger);
  opened.push(() => errorLog.close());
  const server = await createServer({
    ...serverSettings(config),
    now,
    logger,
    database,
    authenticator,
    anonymousCaller: (address) => anonymousCaller(address, config.ANONYMOUS_ACCESS),
    onUnreadableAddress: unreadableAddresses(logger, opened),
    limits,
    requests,
    errors,
    executor,
    documents,
    live,
    routes,
    portal: createPortal({ document, schema }),
    accessLog: new AccessLog(logger, metrics),
    errorLog,
    exposition: expositionOnMainPort(config, metrics),
  });
  startCleaning(config, database, logger, now, opened);
  for (const close of opened) server.addHook('onClose', close);
  const firstAdminKey = async (): Promise<FirstAdminKey | undefined> => {
    if (given !== undefined) return isGivenFirst ? {} : undefined;
    const generated = await ensureAdminKey(database, undefined, now());
    return generated === undefined ? undefined : { generated };
  };
  return {
    server,
    limits,
    firstAdminKey,
    metrics,
    drain: new Drain(server, requests, live),
    product: `${document.info.title} ${document.info.version}`,
    firstList: rest.routes.map(methodAndPath).find(({ method, path }) => method === 'GET' && !path.includes('{'))?.path,
    firstWrite: rest.firstWrite,
  };
}

export function documentLimits({ GRAPHQL_MAX_TOKENS, GRAPHQL_MAX_DEPTH }: Config): DocumentLimits {
  return { tokens: GRAPHQL_MAX_TOKENS, depth: GRAPHQL_MAX_DEPTH };
}

/** The server options that come from the configuration. */
function serverSettings(config: Config) {
  return {
    connections: connectionLimits(config),
    maxStatementBytes: maxStatementBytes(config),
    corsOrigins: config.CORS_ORIGINS,
    trustProxy: config.TRUST_PROXY,
  };
}

/** Twice the response size, because rows contain ids and keys in addition to the selected columns. */
function maxStatementBytes({ MAX_RESPONSE_BYTES }: Config): number {
  return 2 * MAX_RESPONSE_BYTES;
}

/** The metrics for `/metrics` on the main port; `undefined` if metrics have a separate port. */
function expositionOnMainPort({ METRICS_PORT, WEB_CONCURRENCY }: Config, metrics: Metrics): Exposition | undefined {
  if (METRICS_PORT !== undefined) return undefined;
  return WEB_CONCURRENCY > 1 ? OF_WORKERS : metrics;
}

function connectionLimits(config: Config): ConnectionLimits {
  const {
    MAX_CONNECTIONS: maxConnections,
    HEADERS_TIMEOUT_MS: headersTimeout,
    KEEP_ALIVE_TIMEOUT_MS: keepAliveTimeout,
  } = config;
  // This timeout must be longer than all other timeouts, since a connection has no traffic while its request is in progress.
  const connectionTimeout = Math.max(keepAliveTimeout, headersTimeout, config.REQUEST_TIMEOUT_MS) + 1000;
  return { maxConnections, headersTimeout, keepAliveTimeout, connectionTimeout };
}

/** Creates the document store, with any configured trusted documents. @throws Error if the manifest is unusable. */
function createDocuments(config: Config, schema: GraphQLSchema, queue: OperationQueue): Documents {
  const { TRUSTED_DOCUMENTS: path, TRUSTED_DOCUMENTS_ONLY: only } = config;
  const bounds = { schema, limits: documentLimits(config), costs: costLimits(config.GRAPHQL_MAX_COST) };
  return new Documents(schema, bounds.limits, queue, path ? TrustedDocuments.read(path, bounds) : undefined, only);
}

async function createSchema({ SUBGRAPH }: Config, domains: Domains, hub: Hub): Promise<GraphQLSchema> {
  const parts: SchemaParts = { ...domains, subscribe: (topic, filter) => hub.subscribe(topic, filter) };
  return SUBGRAPH ? domains.buildSubgraph(parts) : buildSchema(parts);
}

/**
 * The caller id of the statements for events. Subscribers share the responses to events, so these statements belong to no
 * single caller.
 */
const EVENTS = 'events';

function createExecutor(
  config: Config,
  database: Database,
  schema: GraphQLSchema,
  tables: Domains['tables'],
  queue: OperationQueue,
  now: () => number,
): Executor {
  const { REQUEST_TIMEOUT_MS: limitMs } = config;
  return new Executor(schema, {
    queue,
    openEventSession: (visibility) =>
      database.sessionFor({
        callerId: EVENTS,
        visibility,
        deadline: new Deadline(limitMs),
        maxStatementBytes: maxStatementBytes(config),
      }),
    eventWaitMs: limitMs,
    now,
    costs: costLimits(config.GRAPHQL_MAX_COST),
    tables: new Map(tables.map((table) => [table.type, table])),
    maxResponseBytes: config.MAX_RESPONSE_BYTES,
  });
}

/** Deletes expired idempotency responses and old events until the server closes. */
function startCleaning(
  { EVENTS_KEPT_DAYS }: Config,
  database: Database,
  logger: FastifyBaseLogger,
  now: () => number,
  opened: Opened,
): void {
  const onError = (error: unknown) => logger.warn({ err: error }, 'expired rows could not be deleted');
  const deletions = [deleteExpiredResponses(now), deleteOldEvents(EVENTS_KEPT_DAYS, now)];
  opened.push(cleanPeriodically(database, deletions, { onError }));
}

/** Opens the recorder of usage, and the service that queries the recorded usage. */
function openUsage(database: Database, logger: FastifyBaseLogger, now: () => number, opened: Opened) {
  const recorder = new UsageRecorder(database, {
    now,
    onState: (error) =>
      error === undefined
        ? logger.info('usage is saved again')
        : logger.warn({ reason: reasonOf(error) }, 'usage could not be saved; it is kept in memory meanwhile'),
  });
  recorder.start();
  opened.push(() => recorder.stop());
  return { recorder, service: new UsageService(recorder, now) };
}

/** Maximum length of an unreadable address in the log. */
const MAX_SHOWN_ADDRESS = 100;

/** Opens the authenticator of API keys. It reports look-ups that fail. */
function openKeys(
  config: Config,
  database: Database,
  lookUps: LookUps,
  logger: FastifyBaseLogger,
  now: () => number,
  opened: Opened,
): KeyAuthenticator {
  const failures = new FailureLog(logger, 'API keys could not be looked up');
  opened.push(() => failures.close());
  return new KeyAuthenticator(database, {
    now,
    lookUpMs: config.REQUEST_TIMEOUT_MS,
    lookUps,
    onFailure: (error) => failures.add(error),
  });
}

/** Makes a function that logs client addresses that cannot be read. It logs at most one line per second. */
function unreadableAddresses(logger: FastifyBaseLogger, opened: Opened): (address: string) => void {
  const message =
    'TRUST_PROXY: a trusted proxy sent no readable IP address in X-Forwarded-For; its clients share one quota';
  const failures = new FailureLog(logger, message);
  opened.push(() => failures.close());
  return (address) => failures.add(JSON.stringify(address.slice(0, MAX_SHOWN_ADDRESS)));
}

/** With `JWT_ISSUER`, the tokens of end users are accepted in addition to keys. */
async function withTokens(
  config: Config,
  keys: Authenticator,
  lookUps: LookUps,
  limits: Limiter,
  logger: FastifyBaseLogger,
  now: () => number,
  opened: Opened,
): Promise<Authenticator> {
  const { JWT_ISSUER: issuer, JWT_AUDIENCE: audience } = config;
  if (issuer === undefined || audience === undefined) return keys;
  const failures = new FailureLog(logger, "The signing keys of the tokens' issuer could not be read");
  opened.push(() => failures.close());
  const tokens = await Tokens.create({
    issuer,
    audience,
    jwksUrl: config.JWT_JWKS_URL,
    plan: config.JWT_PLAN,
    scopes: config.JWT_SCOPES,
    scopeClaim: config.JWT_SCOPE_CLAIM,
    now,
    onFailure: (error) => failures.add(error),
  });
  return new TokenAuthenticator(keys, tokens, lookUps, limits, now);
}

/** The fraction of each quota that an instance grants while Redis is unreachable. Its workers share this fraction. */
const FALLBACK_FRACTION = 0.5;

/**
 * Opens the limiter. With `REDIS_URL`, it counts in Redis. While Redis is unreachable, even at the start, it counts in
 * memory. Without `REDIS_URL`, it always counts in memory.
 * @throws Error if Redis rejects this client.
 */
async function openLimiter(
  config: Config,
  logger: FastifyBaseLogger,
  now: () => number,
  onUsage: OnUsage,
  opened: Opened,
): Promise<Limiter> {
  const limits = await createLimiter(config, logger, now, onUsage);
  opened.push(() => limits.close());
  await limits.start();
  return limits;
}

async function createLimiter(
  config: Config,
  logger: FastifyBaseLogger,
  now: () => number,
  onUsage: OnUsage,
): Promise<Limiter> {
  const { REDIS_URL: url, WEB_CONCURRENCY } = config;
  const bans = { banAfter: config.BAN_AFTER, banSeconds: config.BAN_SECONDS, banMaxSeconds: config.BAN_MAX_SECONDS };
  if (!url) return new Limiter({ bans, now, onUsage });
  const redis = await connectRedis(url);
  const place = placeOfRedis(parseRedisAddress(url));
  return new Limiter({
    bans,
    now,
    onUsage,
    redis: new RedisStore(redis, { bans, now }),
    fallbackFraction: FALLBACK_FRACTION / WEB_CONCURRENCY,
    onState: (state, error) =>
      logger.warn(
        { limits: state, redis: place, reason: error && reasonOfRedis(faultOf(redis) ?? error) },
        'rate-limit store changed',
      ),
  });
}

function reasonOfRedis(error: unknown): string {
  return explanationOf(error) ?? reasonOf(error);
}

interface Events {
  readonly hub: Hub;
  /** `undefined` without Redis. */
  readonly relay: RedisRelay | undefined;
}

/**
 * Delivers committed changes to the subscribers of this process, and through Redis to the subscribers of other processes.
 * @throws Error if Redis rejects this client.
 */
async function openEvents(
  config: Config,
  database: Database,
  domains: Domains,
  notifier: FeedNotifier,
  logger: FastifyBaseLogger,
  opened: Opened,
): Promise<Events> {
  const hub = new Hub(domains.rowLoaders(database));
  const relay = config.REDIS_URL ? await createRelay(config.REDIS_URL, hub, domains, notifier, logger) : undefined;
  const onChange = (change: Change) => {
    hub.notify(change);
    notifier.announce();
    relay?.enqueue(change);
  };
  database.listeners.add(onChange);
  database.checkChange = changeCheck(domains.topics);
  opened.push(() => {
    database.listeners.delete(onChange);
    relay?.close();
  });
  await relay?.start();
  return { hub, relay };
}

async function createRelay(
  url: string,
  hub: Hub,
  { topics }: Domains,
  notifier: FeedNotifier,
  logger: FastifyBaseLogger,
): Promise<RedisRelay> {
  const [publisher, subscriber] = await Promise.all([connectForEvents(url), connectForEvents(url)]);
  return new RedisRelay(publisher, subscriber, {
    topics: tablesOf(topics),
    notify: hub.notify,
    hasSubscribers: () => hub.subscribers > 0,
    onMessage: () => notifier.announce(),
    onState: (state) => logger.warn({ events: state }, 'event relay state changed'),
  });
}
