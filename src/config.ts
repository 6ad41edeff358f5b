import { resolve } from 'node:path';
import type { AnonymousAccess } from './access/caller';
import { apiKey, integer, oneOf, origins, proxies, text, url, urls } from './config/parsers';

/** One environment variable: how it is read, what it is without one, and what it means. */
interface Setting<T> {
  readonly default: T;
  readonly meaning: string;
  /** @throws Error that says what the value should be. */
  parse(value: string): T;
}

function setting<T>(parse: (value: string) => T, fallback: T, meaning: string): Setting<T> {
  return { parse, default: fallback, meaning };
}

const SETTINGS = {
  PORT: setting(integer(0, 65535), 4000, 'the port to listen on; 0 takes a free one'),
  HOST: setting(text, '127.0.0.1', 'the address to listen on'),
  WEB_CONCURRENCY: setting(
    integer(1, 256),
    1,
    'worker processes; more than one need DATABASE_URL and REDIS_URL',
  ),
  DATABASE_URL: setting<string | undefined>(
    url('postgresql:', 'postgres:'),
    undefined,
    'a postgresql:// URL; without it the embedded PostgreSQL in DATA_DIR',
  ),
  DATABASE_POOL_SIZE: setting(integer(1, 1000), 10, 'connections to PostgreSQL at most, for each worker'),
  DATABASE_QUEUE: setting(
    integer(1, 100_000),
    1000,
    'statements that may wait for a connection; further ones are refused at once',
  ),
  DATABASE_REPLICA_URLS: setting<string[] | undefined>(
    urls('postgresql:', 'postgres:'),
    undefined,
    'postgresql:// URLs of streaming replicas of DATABASE_URL, comma-separated: queries are read from them',
  ),
  REPLICA_MAX_LAG_MS: setting(
    integer(100, 600_000),
    5000,
    'how far behind a replica may be that is read from, and for how long after a write its caller reads from the primary',
  ),
  DATA_DIR: setting(
    (value) => resolve(text(value)),
    resolve('data'),
    'the directory of the embedded PostgreSQL',
  ),
  REDIS_URL: setting<string | undefined>(
    url('redis:', 'rediss:'),
    undefined,
    'a redis:// URL; limits and live events are then shared by all instances that use it',
  ),
  ANONYMOUS_ACCESS: setting<AnonymousAccess | undefined>(
    oneOf('none', 'read', 'write'),
    undefined,
    'what callers without a key may do: none, read, write; without it read, or write on the embedded database bound to loopback',
  ),
  ADMIN_API_KEY: setting<string | undefined>(
    apiKey,
    undefined,
    'the first admin key; without it the first start makes one and shows it once',
  ),
  TRUST_PROXY: setting<string[] | number | undefined>(
    proxies,
    undefined,
    'proxies whose X-Forwarded-For is believed: addresses and CIDRs, comma-separated, or a number of hops',
  ),
  BAN_AFTER: setting(
    integer(1, 1_000_000),
    20,
    'refused requests within a window until the caller is banned',
  ),
  BAN_SECONDS: setting(
    integer(1, 86_400),
    60,
    'how long the first ban of a day lasts; each further one twice as long',
  ),
  BAN_MAX_SECONDS: setting(integer(1, 604_800), 3600, 'how long a ban lasts at most'),
  MAX_SUBSCRIPTIONS_PER_CALLER: setting(
    integer(1, 1_000_000),
    100,
    'live operations that one caller may have running at once in a process, and WebSocket connections',
  ),
  REQUEST_TIMEOUT_MS: setting(
    integer(100, 600_000),
    10_000,
    'how long a request may take; after it comes 503, and what it asked of PostgreSQL is cancelled',
  ),
  GRAPHQL_MAX_TOKENS: setting(integer(100, 100_000), 5000, 'tokens of a document'),
  GRAPHQL_MAX_DEPTH: setting(integer(5, 100), 20, 'levels of selections, values and types within each other'),
  GRAPHQL_MAX_FIELDS: setting(
    integer(10, 100_000),
    2000,
    'fields of an operation once its fragments are spread',
  ),
  GRAPHQL_MAX_ROOT_FIELDS: setting(integer(1, 10_000), 100, 'root fields of an operation'),
  GRAPHQL_MAX_ALIASES: setting(integer(0, 10_000), 100, 'aliases of a document'),
  GRAPHQL_MAX_FRAGMENTS: setting(integer(0, 1000), 100, 'fragments of a document'),
  GRAPHQL_MAX_REPEATS: setting(
    integer(1, 1000),
    50,
    'times that one place of an operation may ask for the same, fragments spread',
  ),
  GRAPHQL_MAX_DIRECTIVES: setting(integer(0, 10_000), 50, 'directives of a document'),
  GRAPHQL_MAX_DIRECTIVES_AT_ONCE: setting(integer(0, 100), 5, 'directives of one field or fragment'),
  GRAPHQL_MAX_ERRORS: setting(integer(1, 100), 20, 'errors that are told of one document'),
  GRAPHQL_MAX_COST: setting(
    integer(100, 10_000_000),
    50_000,
    'values that an answer may hold, estimated from the lengths of pages',
  ),
  GRAPHQL_MAX_EVENT_COST: setting(
    integer(10, 10_000_000),
    250,
    'values that one event of a subscription may hold: events are free, so that each must be little work',
  ),
  TRUSTED_DOCUMENTS: setting<string | undefined>(
    (value) => resolve(text(value)),
    undefined,
    "a persisted query manifest of Apollo's: documents that are known from the start, and served by id",
  ),
  TRUSTED_DOCUMENTS_ONLY: setting(
    (value) => oneOf('true', 'false')(value) === 'true',
    false,
    'true: no documents but those of TRUSTED_DOCUMENTS may run',
  ),
  HEADERS_TIMEOUT_MS: setting(
    integer(100, 600_000),
    10_000,
    'how long the head of a request may take to arrive; after it comes 408',
  ),
  KEEP_ALIVE_TIMEOUT_MS: setting(
    integer(100, 600_000),
    72_000,
    'how long a connection is kept that asks nothing: longer than a load balancer in front keeps it',
  ),
  MAX_CONNECTIONS: setting(
    integer(1, 1_000_000),
    10_000,
    'connections at once; further ones are closed at once',
  ),
  MAX_REQUESTS_PER_CONNECTION: setting(
    integer(1, 100_000_000),
    10_000,
    'requests that one connection may carry; it is closed with the answer to the last',
  ),
  MAX_REQUESTS_IN_PROGRESS: setting(
    integer(1, 1_000_000),
    1000,
    'requests that are worked on at once; further ones are refused at once',
  ),
  MAX_EVENT_LOOP_LAG_MS: setting(
    integer(10, 60_000),
    500,
    'how late the process may be with its work before it refuses more',
  ),
  SHUTDOWN_DELAY_MS: setting(
    integer(0, 600_000),
    0,
    'how long to go on after SIGTERM with readiness off, so that load balancers have noticed before connections are refused',
  ),
  METRICS_PORT: setting<number | undefined>(
    integer(0, 65535),
    undefined,
    'a port of its own for /metrics, open to whoever reaches it; without it on PORT, for this machine and admin keys',
  ),
  OTEL_EXPORTER_OTLP_ENDPOINT: setting<string | undefined>(
    url('http:', 'https:'),
    undefined,
    'an OpenTelemetry collector (OTLP over HTTP) that traces are sent to; without it there are none',
  ),
  OTEL_SERVICE_NAME: setting(text, 'petstore-gateway', 'what the service is called in traces'),
  CORS_ORIGINS: setting<string[] | undefined>(
    origins,
    undefined,
    'origins that browsers may call from, comma-separated; without it any origin, without credentials',
  ),
  LOG_LEVEL: setting(
    oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
    'info',
    'how much is logged',
  ),
  NODE_ENV: setting(oneOf('production', 'development', 'test'), 'development', '`npm start` sets production'),
};

type Settings = typeof SETTINGS;

/** The configuration, by the names of the environment. */
export type Config = { readonly [name in keyof Settings]: ReturnType<Settings[name]['parse']> };

/** A variable whose value cannot be used. Its message is one line that names it. */
export class ConfigError extends Error {}

/**
 * Reads the configuration. An empty variable counts as absent.
 * @throws ConfigError for the first variable that is wrong or missing.
 */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  const config: Record<string, unknown> = {};
  for (const [name, { parse, default: fallback }] of Object.entries(SETTINGS)) {
    const value = environment[name];
    if (value === undefined || value === '') {
      config[name] = fallback;
      continue;
    }
    try {
      config[name] = parse(value);
    } catch (error) {
      throw new ConfigError(`${name} ${(error as Error).message}`);
    }
  }
  refuseMissing(config as Config);
  return config as Config;
}

/** Workers share neither the embedded database nor what is counted in memory, and replicas are those of a server. */
function refuseMissing(config: Config): void {
  if (config.DATABASE_REPLICA_URLS && !config.DATABASE_URL)
    throw new ConfigError('DATABASE_URL must be set when DATABASE_REPLICA_URLS is');
  if (config.TRUSTED_DOCUMENTS_ONLY && !config.TRUSTED_DOCUMENTS)
    throw new ConfigError('TRUSTED_DOCUMENTS must be set when TRUSTED_DOCUMENTS_ONLY is true');
  if (config.WEB_CONCURRENCY === 1) return;
  const missing = (['DATABASE_URL', 'REDIS_URL'] as const).find((name) => !config[name]);
  if (missing) throw new ConfigError(`${missing} must be set when WEB_CONCURRENCY is more than 1`);
}
