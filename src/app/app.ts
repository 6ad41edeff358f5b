import { isIPv4 } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { ApiKeyService } from '../access/api-key-service';
import type { AnonymousAccess } from '../access/caller';
import { ensureAdminKey } from '../access/first-admin-key';
import { KeyRing } from '../access/key-ring';
import type { Database } from '../database/database';
import { Executor } from '../graphql/executor';
import { ExpiredAnswers } from '../graphql/expired-answers';
import { buildSchema } from '../graphql/schema';
import { AccessLog } from '../http/access-log';
import { Drain } from '../http/drain';
import { LiveOperations } from '../http/live/live-operations';
import { type AccessRule, writesFromHere } from '../http/local-access';
import { createLogger } from '../http/logger';
import { Metrics } from '../http/metrics';
import { OF_WORKERS } from '../http/metrics-route';
import { Overload } from '../http/overload';
import { RequestsInProgress } from '../http/requests-in-progress';
import { createServer } from '../http/server';
import { createServices } from '../petstore/services';
import type { Store } from '../rate-limit/store';
import { connectionLimits, costLimits } from './bounds';
import type { Config } from './config';
import { createDocuments } from './documents';
import { createEvents } from './events';
import { openRedis } from './open-redis';
import { createLimits } from './rate-limit-store';
import { createUsage } from './usage-counting';

/** The application, not listening yet. Closing the server closes everything except the database. */
export interface App {
  readonly server: FastifyInstance;
  readonly anonymousAccess: AnonymousAccess;
  /** Where requests are counted. */
  readonly limits: Store;
  /**
   * Creates an admin key if the database has no key at all, and returns it, to be shown once. To be called when the server
   * listens and nothing can stop the start any more: whatever did would keep the key from being shown.
   */
  readonly firstAdminKey: () => Promise<string | undefined>;
  readonly metrics: Metrics;
  readonly drain: Drain;
}

/** Composes the application over an open database: keys and limits, services, schema, server. */
export async function createApp(config: Config, database: Database, now: () => number = Date.now): Promise<App> {
  const keys = new KeyRing(database, now);
  const apiKeys = new ApiKeyService(keys, now);
  const logger = createLogger(config.LOG_LEVEL, config.WEB_CONCURRENCY);
  const redis = config.REDIS_URL ? await openRedis(config.REDIS_URL) : undefined;
  const usage = createUsage(database, logger, now);
  const limits = await createLimits(config, redis, logger, now, usage.recorder.counts.add);
  const services = createServices();
  const events = await createEvents(config, database, services, logger);
  const all = { ...services, apiKeys, limits, usage: usage.service, events: events.hub };
  const schema = config.SUBGRAPH ? (await import('../petstore/subgraph.js')).buildSubgraph(all) : buildSchema(all);
  const documents = createDocuments(config, schema);
  const executor = new Executor(schema, {
    now,
    costs: costLimits(config),
    maxResponseBytes: config.MAX_RESPONSE_BYTES,
  });
  const { ADMIN_API_KEY: given } = config;
  if (given !== undefined) await ensureAdminKey(database, given, now());
  const live = new LiveOperations({ executor, documents, keys, maxPerCaller: config.MAX_SUBSCRIPTIONS_PER_CALLER });
  const requests = new RequestsInProgress(config.REQUEST_TIMEOUT_MS, config.MAX_REQUESTS_PER_CONNECTION);
  const overload = new Overload(requests, {
    inProgress: config.MAX_REQUESTS_IN_PROGRESS,
    lagMs: config.MAX_EVENT_LOOP_LAG_MS,
  });
  const { uses } = executor;
  const metrics = new Metrics({
    database,
    limits,
    requests,
    overload,
    uses,
    live,
    usage: usage.recorder,
    ...events,
  });
  const anonymousAccess = config.ANONYMOUS_ACCESS ?? defaultAccess(config);
  const server = await createServer({
    database,
    executor,
    documents,
    live,
    keys,
    limits,
    now,
    requests,
    overload,
    accessLog: new AccessLog(logger, metrics),
    exposition: config.METRICS_PORT === undefined ? (config.WEB_CONCURRENCY > 1 ? OF_WORKERS : metrics) : undefined,
    anonymousAccess: accessRule(config, anonymousAccess),
    logger,
    connections: connectionLimits(config),
    // Rows have ids and keys besides what is selected.
    maxStatementBytes: 2 * config.MAX_RESPONSE_BYTES,
    corsOrigins: config.CORS_ORIGINS,
    trustProxy: config.TRUST_PROXY,
  });
  server.addHook('onClose', () => usage.recorder.stop());
  server.addHook('onClose', () => limits.close());
  server.addHook('onClose', () => events.close());
  const expired = new ExpiredAnswers(database, {
    now,
    onError: (error) => logger.warn({ err: error }, 'expired idempotency responses could not be deleted'),
  });
  server.addHook('onClose', () => expired.stop());
  const firstAdminKey = async () => (given === undefined ? ensureAdminKey(database, given, now()) : undefined);
  return { server, anonymousAccess, limits, firstAdminKey, metrics, drain: new Drain(server, requests, live) };
}

function accessRule({ ANONYMOUS_ACCESS, CORS_ORIGINS }: Config, access: AnonymousAccess): AccessRule {
  const isDefault = ANONYMOUS_ACCESS === undefined;
  return isDefault && access === 'write' ? writesFromHere(CORS_ORIGINS) : () => access;
}

/** Anonymous writes are on by default only with the embedded database on loopback, and from there: a first `curl -X POST` works. */
function defaultAccess({ DATABASE_URL, HOST }: Config): AnonymousAccess {
  const isLoopback = HOST === 'localhost' || HOST === '::1' || (isIPv4(HOST) && HOST.startsWith('127.'));
  return !DATABASE_URL && isLoopback ? 'write' : 'read';
}
