import { isIP } from 'node:net';
import { resolve } from 'node:path';
import type { AnonymousAccess } from '../access/account';
import { parseKey } from '../access/key-format';
import { isTrustedUrl } from '../access/trusted-url';
import { parseConnectionString, withTlsVariables } from '../database/postgres/connection-string';
import { parseRedisAddress } from '../redis/redis-address';

/** An environment variable: the parser for its value, and its default. A default that is a string is parsed, too. */
interface Setting<T> {
  readonly default: T;
  /** @throws Error that says what the value must be. */
  parse(value: string): T;
}

function setting<T>(parse: (value: string) => T, fallback: T): Setting<T> {
  return { parse, default: fallback };
}

const USER_SCOPES = ['READ', 'ORDER', 'WRITE'] as const;

const SETTINGS = {
  /** Port to listen on. 0 chooses a free port. */
  PORT: setting(integer(0, 65535), 4000),
  /** Address to listen on. */
  HOST: setting(text, '127.0.0.1'),
  /**
   * Number of worker processes. With several workers, DATABASE_URL and REDIS_URL are required, and metrics are available
   * only on METRICS_PORT.
   */
  WEB_CONCURRENCY: setting(integer(1, 256), 1),
  /** `postgresql://` URL. Without it, the gateway uses the embedded PostgreSQL in DATA_DIR. */
  DATABASE_URL: setting<string | undefined>(postgres, undefined),
  /** Maximum number of PostgreSQL connections per worker for requests. `/readyz` uses one additional connection. */
  DATABASE_POOL_SIZE: setting(integer(1, 1000), 10),
  /** Data directory of the embedded PostgreSQL. Only its owner can access it. */
  DATA_DIR: setting(absolutePath, './data'),
  /**
   * `redis://`, `redis+sentinel://` or `redis+cluster://` URL. For TLS, the scheme starts with `rediss`. Instances with the
   * same Redis share rate limits and live events.
   */
  REDIS_URL: setting<string | undefined>(redis, undefined),
  /** What callers without a key may do, wherever their requests come from. */
  ANONYMOUS_ACCESS: setting<AnonymousAccess>(oneOf('none', 'read', 'write'), 'read'),
  /**
   * An admin key. At the start, the gateway adds this key to the database if the database does not have it. The key is
   * never shown. Without this setting, the first start creates a key and shows it once.
   */
  ADMIN_API_KEY: setting<string | undefined>(apiKey, undefined),
  /** The issuer of end users' tokens: the exact `iss`. Without this setting, no tokens are accepted. */
  JWT_ISSUER: setting<string | undefined>(text, undefined),
  /** The `aud` of end users' tokens. Required with JWT_ISSUER. */
  JWT_AUDIENCE: setting<string | undefined>(text, undefined),
  /** The URL of the issuer's signing keys. By default, the URL in the issuer's discovery document. */
  JWT_JWKS_URL: setting<string | undefined>(trustedUrl, undefined),
  /** The plan of every end user. */
  JWT_PLAN: setting(word('FREE', 'PRO', 'BUSINESS'), 'FREE'),
  /** What every end user may do: READ, ORDER and WRITE, separated by spaces, or `none`. */
  JWT_SCOPES: setting(userScopes, userScopes('READ ORDER')),
  /**
   * Name or path of a token claim that grants further scopes (READ, ORDER, WRITE) in addition to JWT_SCOPES, such as
   * `realm_access.roles`.
   */
  JWT_SCOPE_CLAIM: setting<string | undefined>(text, undefined),
  /** Proxies whose X-Forwarded-For is trusted: comma-separated addresses and CIDRs, or the number of proxies (hops). */
  TRUST_PROXY: setting<string[] | number | undefined>(proxies, undefined),
  /** A caller is banned after this number of rejected requests within one rate-limit window. */
  BAN_AFTER: setting(integer(1, 1_000_000), 20),
  /**
   * Length of a ban in seconds. A ban that starts within a day of the caller's previous ban lasts twice as long as the
   * previous ban, up to BAN_MAX_SECONDS.
   */
  BAN_SECONDS: setting(integer(1, 86_400), 60),
  /** Maximum length of a ban in seconds. */
  BAN_MAX_SECONDS: setting(integer(1, 604_800), 3600),
  /**
   * Maximum number of running live operations per caller and process, and maximum number of WebSocket connections per
   * caller and process.
   */
  MAX_SUBSCRIPTIONS_PER_CALLER: setting(integer(1, 1_000_000), 100),
  /**
   * Time limit of a request. A request that exceeds it gets 503, or 408 if its body is incomplete. Its PostgreSQL statements
   * are cancelled.
   */
  REQUEST_TIMEOUT_MS: setting(integer(100, 600_000), 10_000),
  /** Maximum size of a response to an operation, and of an event of a subscription, in bytes. */
  MAX_RESPONSE_BYTES: setting(integer(10_000, 100_000_000), 5_000_000),
  /** Maximum number of tokens in a document. */
  GRAPHQL_MAX_TOKENS: setting(integer(100, 100_000), 5000),
  /** Maximum number of nesting levels of fields and inline fragments. */
  GRAPHQL_MAX_DEPTH: setting(integer(5, 100), 20),
  /** Maximum estimated cost of an operation: approximately the number of values in its response. */
  GRAPHQL_MAX_COST: setting(integer(100, 10_000_000), 50_000),
  /** Path of an Apollo persisted query manifest. Clients can send the id of a document instead of its text. */
  TRUSTED_DOCUMENTS: setting<string | undefined>(absolutePath, undefined),
  /** Whether only the documents of TRUSTED_DOCUMENTS may run. */
  TRUSTED_DOCUMENTS_ONLY: setting(flag, false),
  /** Whether the schema is a subgraph of Apollo Federation 2. */
  SUBGRAPH: setting(flag, false),
  /** Time limit for the headers of a request to arrive. If they take longer, the response is 408. */
  HEADERS_TIMEOUT_MS: setting(integer(100, 600_000), 10_000),
  /** How long an idle connection is kept open. Choose a longer time than the idle timeout of your load balancer. */
  KEEP_ALIVE_TIMEOUT_MS: setting(integer(100, 600_000), 72_000),
  /** Maximum number of open connections. Further connections are closed immediately. */
  MAX_CONNECTIONS: setting(integer(1, 1_000_000), 10_000),
  /**
   * Maximum number of requests in progress. Further requests are rejected immediately. The limit for a single caller is a
   * quarter of this number, or 16, whichever is greater.
   */
  MAX_REQUESTS_IN_PROGRESS: setting(integer(1, 1_000_000), 1000),
  /**
   * How long the gateway accepts connections after SIGTERM, while `/readyz` already fails. Load balancers need this time to
   * stop sending requests.
   */
  SHUTDOWN_DELAY_MS: setting(integer(0, 600_000), 500),
  /**
   * Separate port for `/metrics`. Requests on this port need no key. Without this setting, `/metrics` is served on PORT and
   * requires an admin key.
   */
  METRICS_PORT: setting<number | undefined>(integer(0, 65535), undefined),
  /**
   * Comma-separated origins whose pages may call the gateway from a browser. By default, pages of all origins may call it.
   */
  CORS_ORIGINS: setting<string[] | undefined>(origins, undefined),
  /** How many days the events of the change feed are kept. */
  EVENTS_KEPT_DAYS: setting(integer(1, 3650), 30),
  /** Minimum severity of logged messages. */
  LOG_LEVEL: setting(oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'), 'info'),
  /** The Node.js environment. `npm start` sets `production`. */
  NODE_ENV: setting(oneOf('production', 'development', 'test'), 'development'),
};

/** The names of all settings. */
export const SETTING_NAMES: readonly string[] = Object.keys(SETTINGS);

type Settings = typeof SETTINGS;

/** The configuration: the parsed value of each setting, by the name of its environment variable. */
export type Config = { readonly [name in keyof Settings]: ReturnType<Settings[name]['parse']> };

/** The error for an invalid or missing environment variable. The message is one line that names the variable. */
export class ConfigError extends Error {}

/** The settings that have no effect without JWT_ISSUER. */
const OF_TOKENS = Object.keys(SETTINGS).filter((name) => /^JWT_(?!ISSUER$)/.test(name));

/**
 * Reads the configuration. An empty variable counts as absent. White space after a value is ignored.
 * @throws ConfigError for the first variable that is invalid or missing.
 */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  const config: Record<string, unknown> = {};
  for (const [name, { parse, default: fallback }] of Object.entries(SETTINGS)) {
    // The value of a Secret often ends with a line break.
    const value = environment[name]?.trimEnd() || environment[name] || fallback;
    try {
      if (typeof value !== 'string') config[name] = value;
      else config[name] = parse(name === 'DATABASE_URL' ? withTlsVariables(value, environment) : value);
    } catch (error) {
      throw new ConfigError(`${name} ${(error as Error).message}`);
    }
  }
  const useless = environment.JWT_ISSUER ? undefined : OF_TOKENS.find((name) => environment[name]);
  if (useless) throw new ConfigError(`${useless} has no effect, because JWT_ISSUER is not set`);
  checkCombinations(config as Config);
  return config as Config;
}

/**
 * Checks combinations of settings. Several workers need PostgreSQL and Redis, since they cannot share the embedded database
 * or counts in memory.
 */
function checkCombinations(config: Config): void {
  if (config.METRICS_PORT && config.METRICS_PORT === config.PORT)
    throw new ConfigError(`METRICS_PORT must be different from PORT, which is ${config.PORT}`);
  if (config.TRUSTED_DOCUMENTS_ONLY && !config.TRUSTED_DOCUMENTS)
    throw new ConfigError('TRUSTED_DOCUMENTS must be set when TRUSTED_DOCUMENTS_ONLY is true');
  if (config.JWT_ISSUER && !config.JWT_JWKS_URL && !isTrustedUrl(config.JWT_ISSUER))
    throw new ConfigError('JWT_JWKS_URL must be set when JWT_ISSUER is not a URL with https');
  if (config.JWT_ISSUER && !config.JWT_AUDIENCE)
    throw new ConfigError('JWT_AUDIENCE must be set when JWT_ISSUER is set');
  if (config.WEB_CONCURRENCY === 1) return;
  const missing = (['DATABASE_URL', 'REDIS_URL'] as const).find((name) => !config[name]);
  if (missing) throw new ConfigError(`${missing} must be set when WEB_CONCURRENCY is more than 1`);
}

// Parsers for the values of variables. Each throws an Error that says what the value must be.

export function text(value: string): string {
  return value;
}

/** @throws Error if the path is relative, and the working directory was deleted. */
export function absolutePath(value: string): string {
  try {
    return resolve(value);
  } catch {
    throw new Error(
      `cannot be ${JSON.stringify(value)}, since the working directory was deleted. Start in a directory that exists.`,
    );
  }
}

export function integer(min: number, max: number) {
  return (value: string): number => {
    const number = Number(value);
    if (/^[0-9]+$/.test(value) && number >= min && number <= max) return number;
    throw new Error(`must be an integer from ${min} to ${max}, not ${JSON.stringify(value)}`);
  };
}

export function oneOf<T extends string>(...values: T[]) {
  return (value: string): T => {
    const found = values.find((each) => each === value);
    if (found) return found;
    throw new Error(`must be one of ${values.join(', ')}, not ${JSON.stringify(value)}`);
  };
}

/** One of several words, in any case. */
export function word<T extends string>(...words: T[]) {
  return (value: string): T => oneOf(...words)(value.toUpperCase());
}

export function userScopes(value: string): readonly (typeof USER_SCOPES)[number][] {
  if (value.trim().toLowerCase() === 'none') return [];
  return value
    .trim()
    .split(/ +/)
    .map((name) => {
      const scope = USER_SCOPES.find((each) => each === name.toUpperCase());
      if (scope) return scope;
      throw new Error(`must be READ, ORDER and WRITE with spaces between them, or none, not ${JSON.stringify(value)}`);
    });
}

/** Checks the URL of an issuer's signing keys: https, or http on this host. */
export function trustedUrl(value: string): string {
  if (isTrustedUrl(value)) return value;
  throw new Error(`must be a URL with https, or with http on this host, not ${JSON.stringify(value)}`);
}

export function flag(value: string): boolean {
  return oneOf('true', 'false')(value) === 'true';
}

/** Checks the URL of a PostgreSQL server. */
export function postgres(value: string): string {
  parseConnectionString(value);
  return value;
}

export function redis(value: string): string {
  parseRedisAddress(value);
  return value;
}

export function apiKey(value: string): string {
  if (parseKey(value)) return value;
  throw new Error('must be of the form ps_<12 digits and lower-case letters>_<32 digits and letters>');
}

export function proxies(value: string): string[] | number {
  if (/^[0-9]+$/.test(value)) return Number(value);
  const ranges = list(value);
  const wrong = ranges.find((range) => !isRange(range));
  if (wrong === undefined) return ranges;
  throw new Error(`must be a number of hops, or addresses and CIDRs; ${JSON.stringify(wrong)} is neither`);
}

export function origins(value: string): string[] {
  const given = list(value);
  const wrong = given.find((origin) => origin !== '*' && !isOrigin(origin));
  if (wrong === undefined) return given;
  throw new Error(`must be origins such as https://shop.example; ${JSON.stringify(wrong)} is not an origin`);
}

/** Whether the text is an origin as browsers send it: scheme, host and port, without a path. */
function isOrigin(text: string): boolean {
  return URL.canParse(text) && new URL(text).origin === text && !text.includes('*');
}

function isRange(range: string): boolean {
  const [address = '', bits, ...rest] = range.split('/');
  const most = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
  return most > 0 && rest.length === 0 && (bits === undefined || (/^[0-9]+$/.test(bits) && Number(bits) <= most));
}

/**
 * Splits a comma-separated list.
 * @throws Error if the list is empty. An empty list would allow nothing, but was probably meant as "not set".
 */
function list(value: string): string[] {
  const items = value
    .split(',')
    .map((item) => item.trim())
    .filter(Boolean);
  if (items.length) return items;
  throw new Error(`must be a comma-separated list, not ${JSON.stringify(value)}`);
}
