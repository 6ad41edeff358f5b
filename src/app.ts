import { isIPv4 } from 'node:net';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import type { Redis } from 'ioredis';
import { ApiKeyService } from './access/api-key-service';
import type { AnonymousAccess } from './access/caller';
import { KeyRing } from './access/key-ring';
import { RecentWriters } from './access/recent-writers';
import type { Config } from './config';
import type { Database } from './database/database';
import { ExpiredAnswers } from './database/expired-answers';
import { Replicas } from './database/replicas';
import { CategoryService } from './domain/category-service';
import { InventoryService } from './domain/inventory-service';
import { OrderService } from './domain/order-service';
import { PetService } from './domain/pet-service';
import { Hub } from './events/hub';
import { RedisRelay } from './events/redis-relay';
import type { DocumentLimits } from './graphql/document-limits';
import { Executor } from './graphql/executor';
import { KnownDocuments } from './graphql/known-documents';
import { ReplicaReads } from './graphql/replica-reads';
import { buildSchema } from './graphql/schema';
import { Drain } from './http/drain';
import { LiveOperations } from './http/live-operations';
import { createLogger } from './http/logger';
import { type Exposition, Metrics } from './http/metrics';
import { Overload } from './http/overload';
import { RequestsInProgress } from './http/requests-in-progress';
import { type ConnectionLimits, createServer } from './http/server';
import { FallbackStore } from './rate-limit/fallback-store';
import { MemoryStore } from './rate-limit/memory-store';
import { connectRedis } from './rate-limit/redis-client';
import { RedisStore } from './rate-limit/redis-store';
import type { Store } from './rate-limit/store';
import { TallyStore } from './rate-limit/tally-store';

/** The application, not listening yet. Closing the server closes it whole, but for the database. */
export interface App {
  readonly server: FastifyInstance;
  readonly anonymousAccess: AnonymousAccess;
  /** The admin key that this first start has made: to be shown once. */
  readonly newAdminKey: string | undefined;
  readonly metrics: Metrics;
  readonly drain: Drain;
}

/**
 * Composes the application over an open database: keys and limits, services, schema, server.
 * @param exposition what `/metrics` tells where this process is not all that serves.
 */
export async function createApp(
  config: Config,
  database: Database,
  now: () => number = Date.now,
  exposition?: Exposition,
): Promise<App> {
  const keys = new KeyRing(database, now);
  const apiKeys = new ApiKeyService(keys);
  const newAdminKey = await apiKeys.bootstrap(database, config.ADMIN_API_KEY);
  const logger = createLogger(config.LOG_LEVEL, config.WEB_CONCURRENCY);
  const redis = config.REDIS_URL ? await connectRedis(config.REDIS_URL) : undefined;
  const pets = new PetService();
  const orders = new OrderService();
  const inventory = new InventoryService();
  const hub = new Hub({
    pet: (ids) => pets.find(database, ids),
    order: (ids) => orders.find(database, ids),
    inventory: (ids) => inventory.find(database, ids),
  });
  const [store, relay] = await Promise.all([
    createStore(config, redis, now, (state, error) =>
      logger.warn({ limits: state, err: error }, 'where requests are counted has changed'),
    ),
    createRelay(config, hub, (state) =>
      logger.warn({ events: state }, 'whether other instances hear of events has changed'),
    ),
  ]);
  const limits = new TallyStore(store);
  const stopListening = database.listeners.add((change) => {
    hub.tell(change);
    relay?.publish(change);
  });
  const categories = new CategoryService();
  const schema = buildSchema({ categories, pets, orders, inventory, apiKeys, limits, events: hub });
  const executor = new Executor(schema, now, config.GRAPHQL_MAX_COST);
  const documents = new KnownDocuments();
  const tracing = config.OTEL_EXPORTER_OTLP_ENDPOINT ? await import('./tracing/tracing.js') : undefined;
  tracing?.reportTo(logger);
  const replicas = await openReplicas(config, database, logger);
  const reader = replicas
    ? new ReplicaReads(executor, replicas, new RecentWriters(config.REPLICA_MAX_LAG_MS, redis))
    : executor;
  const runner = tracing?.traced(reader) ?? reader;
  const live = new LiveOperations({
    executor,
    runner,
    documents,
    documentLimits: documentLimits(config),
    keys,
    maxPerCaller: config.MAX_SUBSCRIPTIONS_PER_CALLER,
  });
  const requests = new RequestsInProgress(config.REQUEST_TIMEOUT_MS, config.MAX_REQUESTS_PER_CONNECTION);
  const overload = new Overload(requests, {
    inProgress: config.MAX_REQUESTS_IN_PROGRESS,
    lagMs: config.MAX_EVENT_LOOP_LAG_MS,
  });
  const metrics = new Metrics({ database, replicas, limits, requests, overload, live, hub, relay });
  const anonymousAccess = config.ANONYMOUS_ACCESS ?? defaultAccess(config);
  const server = await createServer({
    database,
    executor: runner,
    documents,
    live,
    keys,
    limits,
    now,
    requests,
    overload,
    metrics,
    exposition: config.METRICS_PORT === undefined ? (exposition ?? metrics) : undefined,
    anonymousAccess,
    logger,
    connections: connectionLimits(config),
    documentLimits: documentLimits(config),
    hidesSuggestions: config.NODE_ENV === 'production',
    corsOrigins: config.CORS_ORIGINS,
    trustProxy: config.TRUST_PROXY,
  });
  server.addHook('onClose', () => limits.close());
  server.addHook('onClose', () => {
    stopListening();
    relay?.close();
  });
  server.addHook('onClose', () => replicas?.close());
  server.addHook('onClose', () => tracing?.stopTracing());
  const expired = new ExpiredAnswers(database, {
    now,
    onError: (error) => logger.warn({ err: error }, 'answers that have expired could not be deleted'),
  });
  server.addHook('onClose', () => expired.stop());
  return { server, anonymousAccess, newAdminKey, metrics, drain: new Drain(server, requests, live) };
}

function documentLimits(config: Config): DocumentLimits {
  return {
    tokens: config.GRAPHQL_MAX_TOKENS,
    depth: config.GRAPHQL_MAX_DEPTH,
    fields: config.GRAPHQL_MAX_FIELDS,
    rootFields: config.GRAPHQL_MAX_ROOT_FIELDS,
    aliases: config.GRAPHQL_MAX_ALIASES,
    fragments: config.GRAPHQL_MAX_FRAGMENTS,
    repeats: config.GRAPHQL_MAX_REPEATS,
    directives: config.GRAPHQL_MAX_DIRECTIVES,
    directivesAtOnce: config.GRAPHQL_MAX_DIRECTIVES_AT_ONCE,
  };
}

function connectionLimits(config: Config): ConnectionLimits {
  const { HEADERS_TIMEOUT_MS, KEEP_ALIVE_TIMEOUT_MS, REQUEST_TIMEOUT_MS } = config;
  return {
    most: config.MAX_CONNECTIONS,
    headersMs: HEADERS_TIMEOUT_MS,
    keepAliveMs: KEEP_ALIVE_TIMEOUT_MS,
    // Nothing need move while a request is worked on.
    silenceMs: Math.max(KEEP_ALIVE_TIMEOUT_MS, HEADERS_TIMEOUT_MS, REQUEST_TIMEOUT_MS) + 1000,
  };
}

/** The part of each quota that an instance, with all its workers, gives out while Redis is out of reach. */
const FALLBACK_SHARE = 0.5;

function createStore(
  config: Config,
  redis: Redis | undefined,
  now: () => number,
  onState: (state: 'redis' | 'fallback', error?: unknown) => void,
): Store {
  const bans = {
    banAfter: config.BAN_AFTER,
    banSeconds: config.BAN_SECONDS,
    banMaxSeconds: config.BAN_MAX_SECONDS,
  };
  const memory = new MemoryStore({ bans, now });
  if (!redis) return memory;
  const share = FALLBACK_SHARE / config.WEB_CONCURRENCY;
  return new FallbackStore(new RedisStore(redis, { bans, now }), memory, { share, onState });
}

async function openReplicas(
  config: Config,
  database: Database,
  logger: FastifyBaseLogger,
): Promise<Replicas | undefined> {
  const { DATABASE_URL, DATABASE_REPLICA_URLS: urls } = config;
  if (!DATABASE_URL || !urls) return undefined;
  return Replicas.open(database, {
    primaryUrl: DATABASE_URL,
    urls,
    maxLagMs: config.REPLICA_MAX_LAG_MS,
    poolSize: config.DATABASE_POOL_SIZE,
    queue: config.DATABASE_QUEUE,
    requestTimeoutMs: config.REQUEST_TIMEOUT_MS,
    onChange: (replica, isUsed, reason) =>
      isUsed
        ? logger.info({ replica }, 'a replica is read from')
        : logger.warn({ replica, reason }, 'a replica is not read from'),
  });
}

/** What joins the events of all instances that share a Redis; `undefined` for one alone. */
async function createRelay(
  { REDIS_URL }: Config,
  hub: Hub,
  onState: (state: 'connected' | 'alone') => void,
): Promise<RedisRelay | undefined> {
  if (!REDIS_URL) return undefined;
  const [publisher, subscriber] = await Promise.all([
    connectRedis(REDIS_URL, 'events'),
    connectRedis(REDIS_URL, 'events'),
  ]);
  const relay = new RedisRelay(publisher, subscriber, { tell: hub.tell, onState });
  await relay.start();
  return relay;
}

/** A first `curl -X POST` works on the laptop that the embedded database runs on, and nowhere else. */
function defaultAccess({ DATABASE_URL, HOST }: Config): AnonymousAccess {
  const isLoopback = HOST === 'localhost' || HOST === '::1' || (isIPv4(HOST) && HOST.startsWith('127.'));
  return !DATABASE_URL && isLoopback ? 'write' : 'read';
}
