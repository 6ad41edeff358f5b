import type { CostLimits } from '../graphql/cost-limits';
import type { DocumentLimits } from '../graphql/document-limits';
import type { ConnectionLimits } from '../http/server';
import type { Config } from './config';

export function documentLimits(config: Config): DocumentLimits {
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
    errors: config.GRAPHQL_MAX_ERRORS,
  };
}

/** Ten times as many operations are free of quota as are counted, so each is less work. Introspection by tools takes half. */
const MAX_FREE_COST = 10_000;

/** Limits on the estimated cost of an operation or an event. */
export function costLimits({ GRAPHQL_MAX_COST, GRAPHQL_MAX_EVENT_COST }: Config): CostLimits {
  const [most, event] = [GRAPHQL_MAX_COST, Math.min(GRAPHQL_MAX_COST, GRAPHQL_MAX_EVENT_COST)];
  return { query: most, mutation: most, subscription: event, free: Math.min(most, MAX_FREE_COST) };
}

export function connectionLimits(config: Config): ConnectionLimits {
  const {
    MAX_CONNECTIONS: maxConnections,
    HEADERS_TIMEOUT_MS: headersTimeout,
    KEEP_ALIVE_TIMEOUT_MS: keepAliveTimeout,
  } = config;
  // A connection has no traffic while its request is in progress.
  const connectionTimeout = Math.max(keepAliveTimeout, headersTimeout, config.REQUEST_TIMEOUT_MS) + 1000;
  return { maxConnections, headersTimeout, keepAliveTimeout, connectionTimeout };
}
