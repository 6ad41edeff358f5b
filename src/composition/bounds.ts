import type { Config } from '../config';
import type { DocumentLimits } from '../graphql/document-limits';
import type { ConnectionLimits } from '../http/server';

/** What a document may ask for. */
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

/** What a connection may do. */
export function connectionLimits(config: Config): ConnectionLimits {
  const { HEADERS_TIMEOUT_MS, KEEP_ALIVE_TIMEOUT_MS, REQUEST_TIMEOUT_MS } = config;
  return {
    most: config.MAX_CONNECTIONS,
    headersMs: HEADERS_TIMEOUT_MS,
    keepAliveMs: KEEP_ALIVE_TIMEOUT_MS,
    // Nothing need move while a request is worked on.
    silenceMs: Math.max(KEEP_ALIVE_TIMEOUT_MS, HEADERS_TIMEOUT_MS, REQUEST_TIMEOUT_MS) + 1000,
  };
}
